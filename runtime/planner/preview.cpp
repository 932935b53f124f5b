#include <algorithm>

#include "compression/coder.hpp"
#include "fewbit/compressor.hpp"
#include "fewbit/saved_bytes.hpp"
#include "text/table.hpp"

namespace fewbit {

namespace {

int64_t kept_bytes(const std::function<at::Tensor()>& forward) {
  SavedBytes meter;
  const auto watch = meter.watch();
  const at::Tensor result = forward();
  return meter.unique_bytes();
}

int64_t kept_bytes(const std::function<at::Tensor()>& forward, Compressor& compressor) {
  const auto in_scope = [&] {
    const CompressionScope scope(compressor);
    return forward();
  };
  in_scope();
  return kept_bytes(in_scope);
}

}  // namespace

BudgetPreview preview_budgets(const std::function<at::Tensor()>& forward,
                              const CompressorOptions& options,
                              const torch::OrderedDict<std::string, at::Tensor>& parameters) {
  BudgetPreview preview;
  preview.rows.push_back({0.0, kept_bytes(forward)});
  std::vector<double> budgets = {1.0, 1.5, 2.0, 3.0, 4.0, options.bits};
  std::ranges::sort(budgets);
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  for (const double bits : budgets) {
    CompressorOptions other = options;
    other.bits = bits;
    if (bits != options.bits && !session::Coder::accepts(other)) continue;
    Compressor compressor(other);
    compressor.name(parameters);
    preview.rows.push_back({bits, kept_bytes(forward, compressor)});
    if (bits == options.bits) preview.sites = compressor.report();
  }
  return preview;
}

std::string BudgetPreview::text() const {
  using Side = session::TextTable::Side;
  session::TextTable table(
      {{"average bits"}, {"saved bytes", Side::right}, {"times less", Side::right}});
  for (const Row& row : rows) {
    const double less = static_cast<double>(rows[0].bytes) / static_cast<double>(row.bytes);
    table.add({row.bits == 0.0 ? "exact" : session::rounded(row.bits), session::grouped(row.bytes),
               session::rounded(less)});
  }
  return table.text() + '\n' + sites;
}

}  // namespace fewbit

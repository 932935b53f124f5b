#include <algorithm>

#include "compression/coder.hpp"
#include "fewbit/compressor.hpp"
#include "planner/measured_step.hpp"
#include "text/table.hpp"

namespace fewbit {

namespace {

constexpr const char* kCaller = "fewbit::preview_budgets";

using Forward = std::function<at::Tensor()>;

/// Of two steps: bits of the second are allocated by the first one's errors.
session::MeasuredStep steps_of(const Forward& forward, at::Device device, Compressor& compressor) {
  const Forward in_scope = [&] {
    const CompressionScope scope(compressor);
    return forward();
  };
  const session::MeasuredStep first = session::measured_step(kCaller, device, in_scope);
  return session::higher(first, session::measured_step(kCaller, device, in_scope));
}

BudgetPreview::Row row_of(double bits, const session::MeasuredStep& step) {
  return {bits, step.kept, step.peak};
}

std::string less(int64_t exact, int64_t bytes) {
  return session::rounded(static_cast<double>(exact) / static_cast<double>(bytes));
}

}  // namespace

BudgetPreview preview_budgets(const std::function<at::Tensor()>& forward,
                              const CompressorOptions& options,
                              const torch::OrderedDict<std::string, at::Tensor>& parameters) {
  BudgetPreview preview;
  const at::Device device = session::home_of(forward());
  preview.rows.push_back(row_of(0.0, session::measured_step(kCaller, device, forward)));
  std::vector<double> budgets = {1.0, 1.5, 2.0, 3.0, 4.0, options.bits};
  std::ranges::sort(budgets);
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  for (const double bits : budgets) {
    CompressorOptions other = options;
    other.bits = bits;
    if (bits != options.bits && !session::Coder::accepts(other)) continue;
    Compressor compressor(other);
    compressor.name(parameters);
    preview.rows.push_back(row_of(bits, steps_of(forward, device, compressor)));
    if (bits == options.bits) preview.sites = compressor.report();
  }
  return preview;
}

std::string BudgetPreview::text() const {
  constexpr auto kRight = session::TextTable::Side::right;
  session::TextTable table({{"average bits"},
                            {"saved bytes", kRight},
                            {"times less", kRight},
                            {"peak of a step", kRight},
                            {"times less", kRight}});
  for (const Row& row : rows) {
    table.add({row.bits == 0.0 ? "exact" : session::rounded(row.bits), session::grouped(row.bytes),
               less(rows[0].bytes, row.bytes), session::grouped(row.peak),
               less(rows[0].peak, row.peak)});
  }
  return table.text() + '\n' + sites;
}

}  // namespace fewbit

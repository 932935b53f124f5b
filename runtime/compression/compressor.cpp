#include "fewbit/compressor.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "codecs/codec.hpp"
#include "compression/policy.hpp"
#include "compression/recorder.hpp"
#include "dispatch/policy_stack.hpp"
#include "text/table.hpp"
#include "trace/saved_tensors.hpp"
#include "trace/step_peak.hpp"

namespace fewbit {

namespace {

std::string bits_of(int64_t bytes, int64_t elements) {
  if (elements == 0) return "-";
  return session::rounded(8.0 * static_cast<double>(bytes) / static_cast<double>(elements));
}

std::vector<session::TextTable::Column> columns(bool offloads) {
  using Side = session::TextTable::Side;
  std::vector<session::TextTable::Column> columns = {{"site"},
                                                     {"codec"},
                                                     {"elements", Side::right},
                                                     {"bits", Side::right},
                                                     {"bytes before", Side::right},
                                                     {"after", Side::right}};
  if (offloads) columns.push_back({"offloaded", Side::right});
  columns.push_back({"squared error", Side::right});
  columns.push_back({"of groups", Side::right});
  return columns;
}

std::vector<std::string> row_of(const Compressor::Site& site, const std::string& name,
                                const std::array<std::string, 2>& errors, bool offloads) {
  std::vector<std::string> row = {name,
                                  site.stored.text(),
                                  session::grouped(site.elements),
                                  bits_of(site.bytes_after + site.bytes_offloaded, site.elements),
                                  session::grouped(site.bytes_before),
                                  session::grouped(site.bytes_after)};
  if (offloads) row.push_back(session::grouped(site.bytes_offloaded));
  row.insert(row.end(), errors.begin(), errors.end());
  return row;
}

std::string text_of(ExactReason reason) {
  switch (reason) {
    case ExactReason::shared:
      return ", shared";
    case ExactReason::divided:
      return ", divided by";
    case ExactReason::result_in_use:
      return ", result in use";
    case ExactReason::requested:
      break;
  }
  return "";
}

std::string left_text(const std::vector<Compressor::LeftAlone>& all) {
  using Side = session::TextTable::Side;
  if (all.empty()) return "";
  session::TextTable table(
      {{"left alone"}, {"times", Side::right}, {"bytes", Side::right}, {"why"}});
  for (const Compressor::LeftAlone& one : all) {
    table.add(
        {one.operation, session::grouped(one.count), session::grouped(one.bytes), one.reason});
  }
  return '\n' + table.text();
}

session::StorageKind cast_to(at::ScalarType type) {
  TORCH_CHECK(type == at::kBFloat16 || type == at::kFloat8_e4m3fn || type == at::kFloat8_e5m2,
              "fewbit::Compressor: a rule's type is ", type,
              ", accepted: BFloat16, Float8_e4m3fn, Float8_e5m2");
  if (type == at::kBFloat16) return session::StorageKind::bf16;
  return type == at::kFloat8_e4m3fn ? session::StorageKind::e4m3 : session::StorageKind::e5m2;
}

}  // namespace

std::string StoredAs::text() const {
  switch (storage) {
    case Storage::recomputed:
      return "recomputed: " + recomputed_by;
    case Storage::offloaded:
      return "offloaded";
    case Storage::exact:
      return std::string("exact") + text_of(reason);
    case Storage::coded:
      break;
  }
  return codec + (bits > 0.0 ? ", " + codecs::bits_text(bits) : "");
}

std::string Compressor::Site::name() const {
  const std::string what = argument < 0 ? "result" : "argument " + std::to_string(argument);
  const std::string of = module.empty() ? "" : " of " + module;
  return operation + of + ", " + what + ", call " + std::to_string(call);
}

Compressor::Compressor(CompressorOptions options)
    : compression_(std::make_shared<session::Compression>(options)) {}

Compressor::~Compressor() = default;

const CompressorOptions& Compressor::options() const {
  return compression_->options();
}

Compressor& Compressor::name(const torch::OrderedDict<std::string, at::Tensor>& parameters) {
  compression_->name(parameters);
  return *this;
}

Compressor& Compressor::name_by(std::function<std::string()> running_module) {
  compression_->set_running_module(std::move(running_module));
  return *this;
}

Compressor& Compressor::random_stream(int64_t stream) {
  compression_->set_random_stream(stream);
  return *this;
}

Compressor& Compressor::rule(const std::string& pattern, Bits bits) {
  compression_->set_rule(pattern, bits);
  return *this;
}

Compressor& Compressor::rule(const std::string& pattern, at::ScalarType type) {
  compression_->set_rule(pattern, cast_to(type));
  return *this;
}

Compressor& Compressor::leave_alone(const std::string& pattern) {
  compression_->set_rule(pattern, session::StorageKind::exact);
  return *this;
}

Compressor& Compressor::offload_exact(const std::string& pattern) {
  compression_->set_rule(pattern, session::StorageKind::offloaded);
  return *this;
}

Compressor& Compressor::recompute(const std::string& name, Recompute when) {
  compression_->set_recompute(name, when);
  return *this;
}

std::vector<Compressor::Site> Compressor::sites() const {
  return compression_->sites();
}

std::vector<Compressor::LeftAlone> Compressor::left_alone() const {
  return compression_->left_alone();
}

void Compressor::save(const std::string& path) const {
  compression_->save(path);
}

void Compressor::load(const std::string& path) {
  compression_->load(path);
}

std::string Compressor::report() const {
  const std::vector<Site> all = sites();
  const bool offloads =
      std::ranges::any_of(all, [](const Site& s) { return s.bytes_offloaded > 0; });
  session::TextTable table(columns(offloads));
  Site total;
  for (const Site& site : all) {
    const std::array errors{session::rounded(site.error), session::rounded(site.median_error)};
    table.add(row_of(site, site.name(), errors, offloads));
    total.elements += site.elements;
    total.bytes_before += site.bytes_before;
    total.bytes_after += site.bytes_after;
    total.bytes_offloaded += site.bytes_offloaded;
  }
  table.add(row_of(total, "all", {}, offloads));
  std::string text = table.text();
  if (const std::optional<double> gap = compression_->split_gap()) {
    text += "weighted error: at most " + session::rounded(100.0 * *gap) +
            " % above the best allocation of bits\n";
  }
  if (const std::optional<int64_t> peak = compression_->step_peak()) {
    text +=
        "peak of the latest step that peak_bytes measured: " + session::grouped(*peak) + " bytes\n";
  }
  return text + left_text(left_alone());
}

CompressionScope::CompressionScope(Compressor& compressor)
    : stack_(session::PolicyStack::of_this_thread()),
      user_(std::make_shared<session::CompressionUser>(compressor.compression_)),
      use_(std::make_unique<session::SavedTensorUse>("fewbit::CompressionScope", user_)),
      policy_(std::make_unique<session::CompressionPolicy>(*compressor.compression_, *user_)) {
  stack_->open(policy_.get());
  if (session::StepPeak* const peak = session::StepPeak::of_this_thread()) {
    peak->when_known([compression = compressor.compression_](int64_t bytes) {
      compression->note_step_peak(bytes);
    });
  }
}

CompressionScope::~CompressionScope() {
  stack_->close(policy_.get());
  user_->end_forward();
}

}  // namespace fewbit

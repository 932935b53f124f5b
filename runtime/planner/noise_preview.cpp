#include "fewbit/noise_preview.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/autograd.h>

#include "text/table.hpp"

namespace fewbit {

namespace {

using Gradients = std::vector<at::Tensor>;

constexpr const char* kPreviewNoise = "fewbit::preview_noise";

/// A Compressor measures its sites in steps 1, 2, 3 and 5.
constexpr int64_t kWarmUp = 5;

double squared(const at::Tensor& tensor) {
  return at::sum(at::square(tensor), at::kDouble).item().toDouble();
}

/// The default generator of a device, which is afterwards as it was.
class RestoredGenerator {
 public:
  explicit RestoredGenerator(at::Device device)
      : generator_(at::globalContext().defaultGenerator(device)) {
    const std::lock_guard lock(generator_.mutex());
    state_ = generator_.get_state();
  }
  ~RestoredGenerator() {
    const std::lock_guard lock(generator_.mutex());
    generator_.set_state(state_);
  }
  RestoredGenerator(const RestoredGenerator&) = delete;
  RestoredGenerator& operator=(const RestoredGenerator&) = delete;

  void seed(int64_t number) {
    const std::lock_guard lock(generator_.mutex());
    generator_.set_current_seed(static_cast<uint64_t>(number));
  }

 private:
  at::Generator generator_;
  at::Tensor state_;
};

/// Gradients of batches, exact and coded, with the same dropout.
class Passes {
 public:
  Passes(const std::function<at::Tensor(int64_t)>& loss, int64_t batches,
         const torch::OrderedDict<std::string, at::Tensor>& parameters)
      : loss_(loss), batches_(batches) {
    for (const auto& parameter : parameters) {
      if (parameter.value().requires_grad()) parameters_.push_back(parameter.value());
    }
    TORCH_CHECK(!parameters_.empty(), kPreviewNoise, ": no parameter requires a gradient");
    generators_.push_back(std::make_unique<RestoredGenerator>(at::kCPU));
    const at::Device device = parameters_[0].device();
    if (device.type() != at::kCPU) {
      generators_.push_back(std::make_unique<RestoredGenerator>(device));
    }
  }

  /// Of batch `index`, counted on from the first again behind the last.
  Gradients gradients(int64_t index, Compressor* compressor) const {
    const int64_t batch = index % batches_;
    for (const auto& generator : generators_) generator->seed(batch);
    const at::AutoGradMode enabled(true);
    at::Tensor value;
    {
      std::optional<CompressionScope> scope;
      if (compressor != nullptr) scope.emplace(*compressor);
      value = loss_(batch);
    }
    Gradients all = torch::autograd::grad({value}, parameters_, {}, std::nullopt, false,
                                          /*allow_unused=*/true);
    bool is_any = false;
    for (size_t i = 0; i < all.size(); ++i) {
      is_any |= all[i].defined();
      if (!all[i].defined()) all[i] = at::zeros_like(parameters_[i]);
    }
    TORCH_CHECK(is_any, kPreviewNoise, ": loss gives no gradient to any parameter");
    return all;
  }

 private:
  const std::function<at::Tensor(int64_t)>& loss_;
  int64_t batches_;
  std::vector<at::Tensor> parameters_;
  std::vector<std::unique_ptr<RestoredGenerator>> generators_;
};

/// What squared errors of batches are, in the mean, and its standard error.
struct Errors {
  double sum = 0.0, squares = 0.0;

  void add(double error) {
    sum += error;
    squares += error * error;
  }
  double mean(double count) const { return sum / count; }
  double standard_error(double count) const {
    const double variance = (squares - sum * sum / count) / (count - 1.0);
    return std::sqrt(std::max(variance, 0.0) / count);
  }
};

/// Sums over exact gradients of batches.
class Exact {
 public:
  void add(const Gradients& gradients) {
    for (const at::Tensor& one : gradients) energies_ += squared(one);
    if (sums_.empty()) {
      for (const at::Tensor& one : gradients) sums_.push_back(one.clone());
      return;
    }
    for (size_t i = 0; i < sums_.size(); ++i) sums_[i].add_(gradients[i]);
  }
  /// Of a batch's gradient.
  double variance(double count) const {
    double of_sums = 0.0;
    for (const at::Tensor& sum : sums_) of_sums += squared(sum);
    return (energies_ - of_sums / count) / (count - 1.0);
  }

 private:
  Gradients sums_;
  double energies_ = 0.0;
};

double over(double error, double variance) {
  if (error == 0.0) return 0.0;
  return variance > 0.0 ? error / variance : std::numeric_limits<double>::infinity();
}

int64_t bytes_of(const Compressor& compressor) {
  int64_t bytes = 0;
  for (const Compressor::Site& site : compressor.sites()) bytes += site.bytes_after;
  return bytes;
}

std::string percent(double share) {
  return session::rounded(100.0 * share) + " %";
}

}  // namespace

NoisePreview preview_noise(const std::function<at::Tensor(int64_t)>& loss, int64_t batches,
                           const torch::OrderedDict<std::string, at::Tensor>& parameters,
                           const CompressorOptions& options, std::vector<double> bits) {
  TORCH_CHECK(batches >= 2, kPreviewNoise, ": batches is ", batches, ", accepted: 2 or more");
  std::ranges::sort(bits);
  std::vector<std::unique_ptr<Compressor>> compressors;
  for (const double one : bits) {
    CompressorOptions other = options;
    other.bits = one;
    compressors.push_back(std::make_unique<Compressor>(other));
    compressors.back()->name(parameters);
  }
  const Passes passes(loss, batches, parameters);
  for (const auto& compressor : compressors) {
    for (int64_t i = 0; i < kWarmUp; ++i) passes.gradients(i, compressor.get());
  }
  Exact exact;
  std::vector<Errors> errors(bits.size());
  for (int64_t batch = 0; batch < batches; ++batch) {
    const Gradients right = passes.gradients(batch, nullptr);
    exact.add(right);
    for (size_t i = 0; i < bits.size(); ++i) {
      const Gradients coded = passes.gradients(batch, compressors[i].get());
      double error = 0.0;
      for (size_t j = 0; j < right.size(); ++j) error += squared(coded[j] - right[j]);
      errors[i].add(error);
    }
  }
  const auto count = static_cast<double>(batches);
  const double variance = exact.variance(count);
  NoisePreview preview;
  for (size_t i = 0; i < bits.size(); ++i) {
    preview.rows.push_back({bits[i], bytes_of(*compressors[i]),
                            over(errors[i].mean(count), variance),
                            over(errors[i].standard_error(count), variance)});
  }
  return preview;
}

double NoisePreview::fewest_bits(double noise) const {
  for (const Row& row : rows) {
    if (row.added <= noise) return row.bits;
  }
  TORCH_CHECK(!rows.empty(), "fewbit::NoisePreview::fewest_bits: there are no rows");
  const Row& least = *std::ranges::min_element(rows, {}, &Row::added);
  TORCH_CHECK(false, "fewbit::NoisePreview::fewest_bits: noise is ", noise,
              ", accepted: ", least.added, " or more, which ", least.bits, " bits add");
}

std::string NoisePreview::text() const {
  constexpr auto kRight = session::TextTable::Side::right;
  session::TextTable table({{"average bits"},
                            {"saved bytes", kRight},
                            {"added noise", kRight},
                            {"standard error", kRight},
                            {"as a batch of", kRight}});
  for (const Row& row : rows) {
    table.add({session::rounded(row.bits), session::grouped(row.bytes), percent(row.added),
               percent(row.standard_error), percent(1.0 / (1.0 + row.added))});
  }
  return table.text();
}

}  // namespace fewbit

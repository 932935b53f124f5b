#include "calibration/site_statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>

#include "trace/streams.hpp"
#include "weights/moments.hpp"

namespace fewbit::session {

namespace {

/// A channel that never moves still has a place on the axis, as wide as nothing is told apart
/// there; the solver takes seconds for points.
constexpr double kLeastSpread = 1e-2;

/// |x| + kFine, a float, has the bin that its leading bits say: each octave holds 128, finest at 0.
constexpr float kFine = 0.25F;
constexpr int kDroppedBits = 23 - 7;
constexpr int32_t kFineBits = std::bit_cast<int32_t>(kFine);
constexpr float kReach = SiteStatistics::kReach;
constexpr int64_t kSide =
    ((std::bit_cast<int32_t>(kReach + kFine) - kFineBits) >> kDroppedBits) + 1;
constexpr int64_t kBins = 2 * kSide;

/// A piece takes 12 bytes per element in addition to it: 4 as float32 and 8 as float64, or as its
/// bin and what that is made of.
constexpr int64_t kPieces = 160;
constexpr int64_t kLeastPiece = 4096;

/// The lower edge of a bin; of kBins, the upper edge of the last.
double edge(std::ptrdiff_t bin) {
  const auto steps = static_cast<int32_t>(std::abs(bin - kSide));
  const auto magnitude = std::bit_cast<float>(kFineBits + (steps << kDroppedBits)) - kFine;
  return std::copysign(std::min(magnitude, kReach), static_cast<double>(bin - kSide));
}

int64_t channel_dimension(const at::Tensor& x) {
  return x.dim() >= 4 ? 1 : x.dim() - 1;
}

/// Views of at most `limit` elements that make up x, with the channel at which they begin.
template <class Visit>
void for_each_piece(const at::Tensor& x, int64_t channel, int64_t limit, const Visit& visit) {
  if (x.numel() <= limit) return visit(x, channel);
  const at::IntArrayRef sizes = x.sizes();
  const auto longest = std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
  const int64_t size = x.size(longest);
  const int64_t step = std::max<int64_t>(limit / (x.numel() / size), 1);
  for (int64_t from = 0; from < size; from += step) {
    const int64_t first = longest == channel_dimension(x) ? channel + from : channel;
    for_each_piece(x.narrow(longest, from, std::min(step, size - from)), first, limit, visit);
  }
}

/// The bin of each value. Values of a negative sign count downwards from the middle: ~n is -1 - n.
at::Tensor bins_of(const at::Tensor& values) {
  const at::Tensor negative = values.view(at::kInt).__rshift__(31);
  at::Tensor bins = values.abs().add_(kFine).view(at::kInt);
  bins.sub_(kFineBits).__irshift__(kDroppedBits).__ixor__(negative).add_(kSide);
  return bins;
}

/// On CUDA bincount waits for the device; on the CPU it is many times as fast.
void count(at::Tensor& counts, const at::Tensor& bins) {
  if (bins.is_cpu()) {
    counts.add_(at::bincount(bins, {}, kBins));
  } else {
    counts.scatter_add_(0, bins.to(at::kLong),
                        at::ones({1}, counts.options()).expand(bins.sizes()));
  }
}

at::Tensor sum_by_channel(const at::Tensor& values) {
  std::vector<int64_t> others;
  for (int64_t dim = 0; dim < values.dim(); ++dim) {
    if (dim != channel_dimension(values)) others.push_back(dim);
  }
  return others.empty() ? values : values.sum(others);
}

std::vector<double> values_of(const at::Tensor& tensor) {
  const at::Tensor host = tensor.to(at::kCPU, at::kDouble).contiguous();
  const auto* data = host.const_data_ptr<double>();
  return {data, data + host.numel()};
}

void add(std::vector<double>& sums, const at::Tensor& tensor) {
  const std::vector<double> values = values_of(tensor);
  sums.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
}

bool is_wrapped(const at::Tensor& x) {
  return x.key_set().has_any(c10::DispatchKeySet(
      {c10::DispatchKey::FuncTorchBatched, c10::DispatchKey::FuncTorchGradWrapper}));
}

}  // namespace

SiteStatistics::Sums& SiteStatistics::sums_for(const at::Tensor& x, int64_t channels) {
  const auto stream = current_stream(x);
  auto found = std::ranges::find(sums_, stream, &Sums::stream);
  const auto options = at::TensorOptions().dtype(at::kDouble).device(x.device());
  if (found == sums_.end()) {
    sums_.push_back({stream, at::zeros({kBins}, options.dtype(at::kLong)), {}, {}, 0});
    found = std::prev(sums_.end());
  }
  if (!found->values.defined() || found->values.numel() != channels) {
    found->values = at::zeros({channels}, options);
    found->squares = at::zeros({channels}, options);
    found->per_channel = 0;
  }
  channels_ = channels;
  return *found;
}

// What is held here outlives the mode that the model runs in, so that no InferenceMode may mark it.
// No sum is of a kind whose order CUDA leaves open: all are exact, or made in one order.
void SiteStatistics::observe(const at::Tensor& input) {
  const c10::InferenceMode no_inference(false);
  const at::NoGradGuard no_grad;
  if (input.numel() == 0 || input.device().is_meta()) return;
  TORCH_CHECK(!is_wrapped(input),
              "fewbit::Calibrator: cannot look at inputs inside a transform of functorch (vmap, "
              "grad); fit() the tables before");
  const at::Tensor x = input.dim() == 0 ? input.reshape({1}) : input;
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  const int64_t channels = x.size(channel_dimension(x));
  Sums& sums = sums_for(x, channels);
  const auto add_piece = [&](const at::Tensor& piece, int64_t channel) {
    at::Tensor values = at::empty(piece.sizes(), piece.options().dtype(at::kFloat)).copy_(piece);
    values.nan_to_num_(0.0, kReach, -kReach).clamp_(-kReach, kReach);
    const int64_t width = piece.size(channel_dimension(piece));
    {
      at::Tensor wide = values.to(at::kDouble);
      sums.values.narrow(0, channel, width).add_(sum_by_channel(wide));
      sums.squares.narrow(0, channel, width).add_(sum_by_channel(wide.square_()));
    }
    count(sums.counts, bins_of(values).flatten());
  };
  for_each_piece(x, 0, std::max(x.numel() / kPieces, kLeastPiece), add_piece);
  sums.per_channel += x.numel() / channels;
  elements_ += x.numel();
}

void SiteStatistics::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
}

int64_t SiteStatistics::elements() const {
  const std::lock_guard lock(mutex_);
  return elements_;
}

std::vector<double> SiteStatistics::counts() const {
  std::vector<double> counts;
  for (const Sums& sums : sums_) {
    sums.stream.synchronize();
    add(counts, sums.counts);
  }
  return counts;
}

std::vector<solver::UnitSpec> SiteStatistics::units() const {
  std::vector<double> values, squares;
  double count = 0.0;
  for (const Sums& sums : sums_) {
    if (sums.values.numel() != channels_) continue;
    add(values, sums.values);
    add(squares, sums.squares);
    count += static_cast<double>(sums.per_channel);
  }
  std::vector<solver::UnitSpec> units;
  for (size_t i = 0; i < values.size(); ++i) {
    const double mean = values[i] / count;
    const double variance = std::max(squares[i] / count - mean * mean, 0.0);
    const double spread = std::max(std::sqrt(variance), kLeastSpread);
    units.push_back({mean, spread, 1.0 / static_cast<double>(values.size())});
  }
  return solver::joined_units(std::move(units));
}

solver::WeightSpec SiteStatistics::weight() const {
  const std::lock_guard lock(mutex_);
  const std::vector<double> all = counts();
  const auto is_used = [](double count) { return count > 0.0; };
  const auto first = std::find_if(all.begin(), all.end(), is_used);
  const auto last = std::find_if(all.rbegin(), all.rend(), is_used).base();
  solver::WeightSpec weight;
  weight.kind = "histogram";
  for (auto count = first; count != last; ++count) {
    weight.edges.push_back(edge(count - all.begin()));
    weight.masses.push_back(*count / static_cast<double>(elements_));
  }
  weight.edges.push_back(edge(last - all.begin()));
  weight.units = units();
  return weight;
}

}  // namespace fewbit::session

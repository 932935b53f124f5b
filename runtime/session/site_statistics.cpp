#include "session/site_statistics.hpp"

#include <algorithm>
#include <cmath>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/histc.h>
#include <ATen/ops/zeros.h>

#include "weights/moments.hpp"

namespace fewbit::session {

namespace {

constexpr double kLeastSpread = 1e-6;

/// As a matrix [n, channels], channels last.
at::Tensor by_channel(const at::Tensor& x) {
  if (x.dim() == 0) return x.reshape({1, 1});
  const int64_t dim = x.dim() >= 4 ? 1 : x.dim() - 1;
  return x.movedim(dim, -1).reshape({-1, x.size(dim)});
}

std::vector<double> values_of(const at::Tensor& tensor) {
  const at::Tensor host = tensor.to(at::kCPU, at::kDouble).contiguous();
  const auto* data = host.const_data_ptr<double>();
  return {data, data + host.numel()};
}

}  // namespace

void SiteStatistics::resize(const at::Tensor& x, int64_t channels) {
  const auto options = at::TensorOptions().dtype(at::kDouble).device(x.device());
  if (!counts_.defined()) counts_ = at::zeros({kBins}, options);
  // A model that was moved meanwhile.
  counts_ = counts_.to(x.device());
  if (!sums_.defined() || sums_.numel() != channels) {
    sums_ = at::zeros({channels}, options);
    squares_ = at::zeros({channels}, options);
    per_channel_ = 0.0;
  }
  sums_ = sums_.to(x.device());
  squares_ = squares_.to(x.device());
}

void SiteStatistics::observe(const at::Tensor& x) {
  const at::NoGradGuard no_grad;
  if (x.numel() == 0 || x.device().is_meta()) return;
  const at::Tensor matrix = by_channel(x);
  resize(x, matrix.size(1));
  // histc takes neither 16-bit types nor NaN.
  const at::Tensor safe = matrix.to(at::kFloat).nan_to_num(0.0, kReach, -kReach);
  const at::Tensor inside = safe.clamp(-kReach, kReach);
  counts_ += at::histc(inside, kBins, -kReach, kReach);
  sums_ += inside.sum({0}, false, at::kDouble);
  squares_ += inside.to(at::kDouble).square().sum({0});
  per_channel_ += static_cast<double>(matrix.size(0));
  elements_ += x.numel();
}

solver::WeightSpec SiteStatistics::weight() const {
  const std::vector<double> counts = values_of(counts_);
  const auto is_used = [](double count) { return count > 0.0; };
  const auto first = std::find_if(counts.begin(), counts.end(), is_used);
  const auto last = std::find_if(counts.rbegin(), counts.rend(), is_used).base();
  solver::WeightSpec weight;
  weight.kind = "histogram";
  double total = 0.0;
  for (auto count = first; count != last; ++count) total += *count;
  const auto edge = [&](std::ptrdiff_t i) {
    return -kReach + 2.0 * kReach * static_cast<double>(i) / static_cast<double>(kBins);
  };
  for (auto count = first; count != last; ++count) {
    weight.edges.push_back(edge(count - counts.begin()));
    weight.masses.push_back(*count / total);
  }
  weight.edges.push_back(edge(last - counts.begin()));
  const std::vector<double> sums = values_of(sums_);
  const std::vector<double> squares = values_of(squares_);
  std::vector<solver::UnitSpec> units;
  for (size_t i = 0; i < sums.size(); ++i) {
    const double mean = sums[i] / per_channel_;
    const double variance = std::max(squares[i] / per_channel_ - mean * mean, 0.0);
    // A channel that never moves still has a place on the axis.
    const double spread = std::max(std::sqrt(variance), kLeastSpread);
    units.push_back({mean, spread, 1.0 / static_cast<double>(sums.size())});
  }
  weight.units = solver::joined_units(std::move(units));
  return weight;
}

}  // namespace fewbit::session

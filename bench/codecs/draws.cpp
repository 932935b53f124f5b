#include "bench/codecs/draws.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <ATen/ATen.h>

namespace fewbit::bench {

double energy_of(const at::Tensor& x) {
  return x.to(at::kDouble).square().sum().item<double>();
}

void Draws::add(const at::Tensor& error) {
  const at::Tensor one = error.reshape({-1}).to(at::kDouble);
  if (count() == 0) {
    sum_ = at::zeros_like(one);
    near_ = at::zeros({kNear, one.numel()}, one.options());
  }
  const int64_t known = std::min(count(), kNear);
  products_ += near_.mv(one).square().sum().item<double>();  // rows not met yet are zero
  pairs_ += known;
  near_[count() % kNear].copy_(one);
  sum_.add_(one);
  squares_.push_back(one.dot(one).item<double>());
}

double Draws::squared_error() const {
  return std::accumulate(squares_.begin(), squares_.end(), 0.0) / static_cast<double>(count());
}

double Draws::squared_error_deviation() const {
  const double centre = squared_error(), n = static_cast<double>(count());
  double sum = 0.0;
  for (const double square : squares_) sum += (square - centre) * (square - centre);
  return std::sqrt(sum / (n - 1.0) / n);
}

double Draws::squared_bias() const {
  const double n = static_cast<double>(count());
  return (sum_.dot(sum_).item<double>() - n * squared_error()) / (n * (n - 1.0));
}

double Draws::bias_z() const {
  const double n = static_cast<double>(count());
  const double trace = products_ / static_cast<double>(pairs_);
  return trace == 0.0 ? 0.0 : squared_bias() / std::sqrt(2.0 * trace / (n * (n - 1.0)));
}

at::Tensor Draws::mean() const {
  return sum_ / static_cast<double>(count());
}

}  // namespace fewbit::bench

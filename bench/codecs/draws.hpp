#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

namespace fewbit::bench {

/// |x|^2 in double precision.
double energy_of(const at::Tensor& x);

/// Errors of independent draws of one estimate, met one after another: how much of them is noise,
/// how much is bias. Of N draws with mean b and covariance C, products of different draws have the
/// mean |b|^2, and the variance tr C^2 where b is 0; that is measured on draws near to each other.
class Draws {
 public:
  void add(const at::Tensor& error);

  int64_t count() const { return static_cast<int64_t>(squares_.size()); }
  /// The mean of |error|^2, with its standard error.
  double squared_error() const;
  double squared_error_deviation() const;
  /// |b|^2 without what N draws leave of the noise: may be below 0.
  double squared_bias() const;
  /// In standard errors of what would be measured if there were no bias.
  double bias_z() const;
  /// The mean of the draws.
  at::Tensor mean() const;

 private:
  static constexpr int64_t kNear = 8;

  at::Tensor sum_;
  at::Tensor near_;  // the latest ones, [kNear, elements]
  std::vector<double> squares_;
  double products_ = 0.0;  // sum of their squares
  int64_t pairs_ = 0;
};

}  // namespace fewbit::bench

#include "examples/fidelity/measure.hpp"

#include <algorithm>
#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/stack.h>
#include <torch/csrc/autograd/autograd.h>

namespace fewbit::examples {

namespace {

// Far from the batches of any training.
constexpr int64_t kFirstBatch = 500'000;
// Below it a parameter has no gradient in any batch: a pixel that is always empty.
constexpr double kLeastUnit = 1e-12;

at::Tensor gradient(const Subject& subject, const Activate& activate, int64_t batch) {
  const at::Tensor loss = subject.loss(kFirstBatch + batch, activate);
  std::vector<at::Tensor> parts = torch::autograd::grad({loss}, subject.parameters);
  for (at::Tensor& part : parts) part = part.flatten();
  return at::cat(parts);
}

double squared(const at::Tensor& vector) {
  return vector.dot(vector).item<double>();
}

// Mean and total variance of vectors that come one after another.
class Moments {
 public:
  void take(const at::Tensor& vector) {
    sum_ = sum_.defined() ? sum_ + vector : vector;
    squares_ += squared(vector);
    ++count_;
  }
  at::Tensor mean() const { return sum_ / static_cast<double>(count_); }
  double variance() const {
    const auto n = static_cast<double>(count_);
    return std::max(0.0, squares_ - n * squared(mean())) / (n - 1.0);
  }
  /// |mean|^2 that is due to the variance alone.
  double floor() const { return variance() / static_cast<double>(count_); }

 private:
  at::Tensor sum_;
  double squares_ = 0.0;
  int64_t count_ = 0;
};

double unbiased_norm(const Moments& moments) {
  return std::sqrt(std::max(0.0, squared(moments.mean()) - moments.floor()));
}

}  // namespace

Reference measure_exact(const Subject& subject, const Activate& activate, int64_t batches) {
  std::vector<at::Tensor> rows;
  Moments moments;
  at::Tensor squares;
  for (int64_t batch = 0; batch < batches; ++batch) {
    rows.push_back(gradient(subject, activate, batch));
    const at::Tensor row = rows.back().to(at::kDouble);
    moments.take(row);
    squares = squares.defined() ? squares + row.square() : row.square();
  }
  Reference reference;
  reference.gradients = at::stack(rows);
  reference.mean = moments.mean();
  reference.unit = (squares / static_cast<double>(batches)).sqrt();
  reference.unit.masked_fill_(reference.unit < kLeastUnit, INFINITY);
  reference.mean_norm = std::sqrt(squared(reference.mean));
  reference.noise = std::sqrt(moments.variance());
  Moments adam;
  for (const at::Tensor& row : rows) adam.take(row.to(at::kDouble) / reference.unit);
  reference.adam_mean_norm = std::sqrt(squared(adam.mean()));
  reference.adam_noise = std::sqrt(adam.variance());
  return reference;
}

Fidelity measure(const Subject& subject, const Reference& reference, const Activate& activate) {
  Moments plain, adam;
  for (int64_t batch = 0; batch < reference.gradients.size(0); ++batch) {
    const at::Tensor difference = gradient(subject, activate, batch).to(at::kDouble) -
                                  reference.gradients[batch].to(at::kDouble);
    plain.take(difference);
    adam.take(difference / reference.unit);
  }
  const at::Tensor few = reference.mean + plain.mean();
  Fidelity fidelity;
  fidelity.bias = unbiased_norm(plain) / reference.mean_norm;
  fidelity.floor = std::sqrt(plain.floor()) / reference.mean_norm;
  fidelity.noise = std::sqrt(plain.variance()) / reference.noise;
  fidelity.cosine =
      few.dot(reference.mean).item<double>() / (std::sqrt(squared(few)) * reference.mean_norm);
  fidelity.adam_bias = unbiased_norm(adam) / reference.adam_mean_norm;
  fidelity.adam_floor = std::sqrt(adam.floor()) / reference.adam_mean_norm;
  fidelity.adam_noise = std::sqrt(adam.variance()) / reference.adam_noise;
  return fidelity;
}

}  // namespace fewbit::examples

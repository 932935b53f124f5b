#include "ops/channels.hpp"

#include <algorithm>
#include <optional>

#include <ATen/EmptyTensor.h>
#include <ATen/ops/batch_norm_elemt.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/ones_like.h>

#include "ops/layout.hpp"

namespace fewbit::ops {

namespace {

std::optional<at::Tensor> optional(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

/// As many as numbers, on the CPU. Floats and doubles without a call of the dispatcher.
at::Tensor ones(const at::Tensor& numbers) {
  const auto type = numbers.scalar_type();
  if (type != at::kFloat && type != at::kDouble) return at::ones_like(numbers);
  at::Tensor result = at::detail::empty_cpu(numbers.sizes(), type);
  if (type == at::kFloat) {
    std::fill_n(result.mutable_data_ptr<float>(), result.numel(), 1.0f);
  } else {
    std::fill_n(result.mutable_data_ptr<double>(), result.numel(), 1.0);
  }
  return result;
}

}  // namespace

at::Tensor by_channels(const at::Tensor& x, const at::Tensor& mean, const at::Tensor& factor,
                       const at::Tensor& weight, const at::Tensor& bias) {
  // One launch of a GPU, where a batch norm in evaluation takes five.
  if (!x.is_cpu()) {
    return at::batch_norm_elemt(x, optional(weight), optional(bias), mean, factor, 0.0);
  }
  const at::Tensor scale = weight.defined() ? at::mul(factor, weight) : factor;
  const at::Tensor shift = bias.defined() ? in_type(bias, mean.scalar_type()) : bias;
  return std::get<0>(at::native_batch_norm(x, scale, shift, mean, ones(mean), false, 0.0, 0.0));
}

}  // namespace fewbit::ops

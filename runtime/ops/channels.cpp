#include "ops/channels.hpp"

#include <optional>

#include <ATen/ops/batch_norm_elemt.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/ones_like.h>

namespace fewbit::ops {

namespace {

std::optional<at::Tensor> optional(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

}  // namespace

at::Tensor by_channels(const at::Tensor& x, const at::Tensor& mean, const at::Tensor& factor,
                       const at::Tensor& weight, const at::Tensor& bias) {
  // One launch, where a batch norm in evaluation takes five.
  if (x.is_cuda()) {
    return at::batch_norm_elemt(x, optional(weight), optional(bias), mean, factor, 0.0);
  }
  const at::Tensor scale = weight.defined() ? at::mul(factor, weight) : factor;
  const at::Tensor shift = bias.defined() ? bias.to(mean.scalar_type()) : bias;
  return std::get<0>(
      at::native_batch_norm(x, scale, shift, mean, at::ones_like(mean), false, 0.0, 0.0));
}

}  // namespace fewbit::ops

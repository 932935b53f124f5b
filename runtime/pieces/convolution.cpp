// The gradients of a convolution, some samples at a time.
#include <array>
#include <tuple>

#include <ATen/ops/convolution_backward.h>
#include <torch/library.h>

#include "ops/layout.hpp"
#include "pieces/piecewise.hpp"

namespace fewbit::session {

namespace {

using Gradients = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

Gradients convolution_backward(const at::Tensor& gradient, const at::Tensor& input,
                               const at::Tensor& weight, at::OptionalSymIntArrayRef bias_sizes,
                               c10::SymIntArrayRef stride, c10::SymIntArrayRef padding,
                               c10::SymIntArrayRef dilation, bool transposed,
                               c10::SymIntArrayRef output_padding, c10::SymInt groups,
                               std::array<bool, 3> mask) {
  const auto of = [&](const at::Tensor& dy, const at::Tensor& x, const at::Tensor& w) {
    return at::convolution_backward_symint(dy, x, w, bias_sizes, stride, padding, dilation,
                                           transposed, output_padding, groups, mask);
  };
  const Piecewise* const pieces = Piecewise::of(input);
  if (pieces == nullptr || !are_plain({gradient, weight}, input.device()) ||
      input.dim() != weight.dim() || gradient.dim() != input.dim() ||
      gradient.size(0) != pieces->row_count()) {
    return of(whole(gradient), whole(input), whole(weight));
  }
  at::Tensor of_input;
  if (mask[0]) of_input = place_of_gradient(input, gradient);
  PieceSum of_weight, of_bias;
  pieces->each(static_cast<int64_t>(weight.nbytes()),
               [&](int64_t first, int64_t last, const at::Tensor& rows) {
                 auto [dx, dw, db] = of(ops::slice_of(gradient, first, last), rows, weight);
                 if (mask[0]) ops::slice_of(of_input, first, last).copy_(dx);
                 of_weight.add(dw);
                 of_bias.add(db);
               });
  return {of_input, of_weight.in(weight.scalar_type()), of_bias.in(gradient.scalar_type())};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, TESTING_ONLY_GenericWrapper, m) {
  m.impl("convolution_backward", convolution_backward);
}

}  // namespace fewbit::session

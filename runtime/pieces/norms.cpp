// The gradients of norms. Of a layer, group or RMS norm rows are for themselves; a batch norm reads
// its input twice, for the sums over a batch and for what they make of each element.
#include <array>
#include <initializer_list>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/_fused_rms_norm_backward.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/cudnn_batch_norm_backward.h>
#include <ATen/ops/div.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/native_group_norm_backward.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include "ops/channels.hpp"
#include "ops/layout.hpp"
#include "pieces/piecewise.hpp"

namespace fewbit::session {

namespace {

using Gradients = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
using Mask = std::array<bool, 3>;
using Optional = std::optional<at::Tensor>;

at::Tensor given(const Optional& tensor) {
  return tensor.value_or(at::Tensor());
}

Optional optional(const at::Tensor& tensor) {
  return tensor.defined() ? Optional(tensor) : std::nullopt;
}

Optional whole_of(const Optional& tensor) {
  return tensor ? Optional(whole(*tensor)) : tensor;
}

/// Of a norm's input, and where its gradient goes.
struct Pass {
  const Piecewise& pieces;
  const at::Tensor& gradient;
  at::Tensor of_input;  ///< undefined: nobody asks for it

  at::Tensor rows_of_input(int64_t first, int64_t last) const {
    return ops::slice_of(of_input, first, last);
  }
};

/// Nothing where the norm has to take its input as a whole.
std::optional<Pass> pass_of(const at::Tensor& input, const at::Tensor& gradient, bool needs_input,
                            std::initializer_list<at::Tensor> others) {
  const Piecewise* const pieces = Piecewise::of(input);
  if (pieces == nullptr || !are_plain({gradient}, input.device()) ||
      !are_plain(others, input.device()) || gradient.sizes() != input.sizes()) {
    return std::nullopt;
  }
  return Pass{*pieces, gradient, needs_input ? place_of_gradient(input, gradient) : at::Tensor()};
}

// Batch norm.

struct BatchStatistics {
  at::Tensor mean, factor;  ///< [C]; factor: 1 / sqrt(variance + epsilon)
};

/// [C] to broadcast with [N, C, ...].
at::Tensor by_channel(const at::Tensor& numbers, int64_t dimensions) {
  std::vector<int64_t> sizes(static_cast<size_t>(dimensions), 1);
  sizes[1] = -1;
  return numbers.view(sizes);
}

/// dx = f w (dy - mean(dy) - f (x - m) mean(dy f (x - m))): a dy + b x + c.
void put_gradient(const Pass& pass, const BatchStatistics& of, const at::Tensor& weight,
                  const at::Tensor& sum_of_products, const at::Tensor& sum) {
  const at::Tensor& x = pass.of_input;
  const auto type = of.factor.scalar_type();
  const double count = static_cast<double>(x.numel()) / static_cast<double>(x.size(1));
  const at::Tensor a = weight.defined() ? of.factor * weight.to(type) : of.factor;
  const at::Tensor b = a * of.factor * sum_of_products / -count;
  const at::Tensor c = a * sum / -count - b * of.mean;
  const at::Tensor factor = by_channel(a, x.dim());
  const at::Tensor zeros = at::zeros_like(b);
  pass.pieces.each(0, [&](int64_t first, int64_t last, const at::Tensor& rows) {
    const at::Tensor linear = ops::by_channels(ops::in_type(rows, type), zeros, b, {}, c);
    at::Tensor to = pass.rows_of_input(first, last);
    const at::Tensor gradient = ops::slice_of(pass.gradient, first, last);
    at::addcmul_out(to, linear, ops::in_type(gradient, type), factor);
  });
}

/// Nothing where it has to take its input as a whole.
std::optional<Gradients> batch_norm(const at::Tensor& gradient, const at::Tensor& input,
                                    const at::Tensor& weight, const BatchStatistics& of,
                                    const Mask& mask) {
  if (!of.mean.defined() || !of.factor.defined() || input.dim() < 2) return std::nullopt;
  auto pass = pass_of(input, gradient, mask[0], {weight, of.mean, of.factor});
  if (!pass) return std::nullopt;
  PieceSum products, sums;
  pass->pieces.each(0, [&](int64_t first, int64_t last, const at::Tensor& rows) {
    const auto [dx, dw, db] = at::native_batch_norm_backward(
        ops::slice_of(gradient, first, last), rows, optional(weight), std::nullopt, std::nullopt,
        of.mean, of.factor, /*train=*/true, 0.0, {false, true, true});
    products.add(dw);
    sums.add(db);
  });
  const auto type = of.factor.scalar_type();
  if (mask[0]) put_gradient(*pass, of, weight, products.in(type), sums.in(type));
  const auto own = weight.defined() ? weight.scalar_type() : type;
  return Gradients{pass->of_input, mask[1] ? products.in(own) : at::Tensor(),
                   mask[2] ? sums.in(own) : at::Tensor()};
}

Gradients native_batch_norm_backward(const at::Tensor& gradient, const at::Tensor& input,
                                     const Optional& weight, const Optional& running_mean,
                                     const Optional& running_var, const Optional& mean,
                                     const Optional& factor, bool train, double eps, Mask mask) {
  if (train) {
    const BatchStatistics of{given(mean), given(factor)};
    if (const auto done = batch_norm(gradient, input, given(weight), of, mask)) return *done;
  }
  return at::native_batch_norm_backward(whole(gradient), whole(input), whole_of(weight),
                                        running_mean, running_var, whole_of(mean), whole_of(factor),
                                        train, eps, mask);
}

Gradients cudnn_batch_norm_backward(const at::Tensor& input, const at::Tensor& gradient,
                                    const at::Tensor& weight, const Optional& running_mean,
                                    const Optional& running_var, const Optional& mean,
                                    const Optional& factor, double eps, const at::Tensor& reserve) {
  const BatchStatistics of{given(mean), given(factor)};
  if (const auto done = batch_norm(gradient, input, weight, of, {true, true, true})) return *done;
  return at::cudnn_batch_norm_backward(whole(input), whole(gradient), whole(weight), running_mean,
                                       running_var, whole_of(mean), whole_of(factor), eps, reserve);
}

// Norms of rows. backward(dy, x, statistic slices) of a piece.

template <class Backward>
Gradients by_rows(const Pass& pass, at::ScalarType type, const Backward& backward) {
  PieceSum of_weight, of_bias;
  pass.pieces.each(0, [&](int64_t first, int64_t last, const at::Tensor& rows) {
    const auto [dx, dw, db] =
        backward(ops::slice_of(pass.gradient, first, last), rows, first, last);
    if (pass.of_input.defined()) pass.rows_of_input(first, last).copy_(dx);
    of_weight.add(dw);
    of_bias.add(db);
  });
  return {pass.of_input, of_weight.in(type), of_bias.in(type)};
}

bool has_rows(const at::Tensor& numbers, const at::Tensor& input) {
  return numbers.defined() && numbers.dim() > 0 && numbers.size(0) == input.size(0);
}

at::ScalarType type_of(const Optional& parameter, const at::Tensor& input) {
  return parameter && parameter->defined() ? parameter->scalar_type() : input.scalar_type();
}

Gradients native_layer_norm_backward(const at::Tensor& gradient, const at::Tensor& input,
                                     c10::SymIntArrayRef shape, const at::Tensor& mean,
                                     const at::Tensor& factor, const Optional& weight,
                                     const Optional& bias, Mask mask) {
  const auto of = [&](const at::Tensor& dy, const at::Tensor& x, const at::Tensor& m,
                      const at::Tensor& f) {
    return at::native_layer_norm_backward_symint(dy, x, shape, m, f, whole_of(weight),
                                                 whole_of(bias), mask);
  };
  const bool is_by_rows = static_cast<int64_t>(shape.size()) < input.dim() &&
                          has_rows(mean, input) && has_rows(factor, input);
  const auto pass =
      is_by_rows ? pass_of(input, gradient, mask[0], {mean, factor, given(weight)}) : std::nullopt;
  if (!pass) {
    return of(whole(gradient), whole(input), whole(mean), whole(factor));
  }
  return by_rows(*pass, type_of(weight, input),
                 [&](const at::Tensor& dy, const at::Tensor& x, int64_t first, int64_t last) {
                   return of(dy, x, ops::slice_of(mean, first, last),
                             ops::slice_of(factor, first, last));
                 });
}

Gradients native_group_norm_backward(const at::Tensor& gradient, const at::Tensor& input,
                                     const at::Tensor& mean, const at::Tensor& factor,
                                     const Optional& weight, c10::SymInt samples,
                                     c10::SymInt channels, c10::SymInt plane, int64_t groups,
                                     Mask mask) {
  const auto of = [&](const at::Tensor& dy, const at::Tensor& x, const at::Tensor& m,
                      const at::Tensor& f, c10::SymInt count) {
    return at::native_group_norm_backward_symint(dy, x, m, f, whole_of(weight), std::move(count),
                                                 channels, plane, groups, mask);
  };
  const bool is_by_rows = has_rows(mean, input) && has_rows(factor, input);
  const auto pass =
      is_by_rows ? pass_of(input, gradient, mask[0], {mean, factor, given(weight)}) : std::nullopt;
  if (!pass) {
    return of(whole(gradient), whole(input), whole(mean), whole(factor), std::move(samples));
  }
  return by_rows(*pass, type_of(weight, input),
                 [&](const at::Tensor& dy, const at::Tensor& x, int64_t first, int64_t last) {
                   return of(dy, x, ops::slice_of(mean, first, last),
                             ops::slice_of(factor, first, last), last - first);
                 });
}

std::tuple<at::Tensor, at::Tensor> fused_rms_norm_backward(
    const at::Tensor& gradient, const at::Tensor& input, at::IntArrayRef shape,
    const at::Tensor& factor, const Optional& weight, std::array<bool, 2> mask) {
  const auto of = [&](const at::Tensor& dy, const at::Tensor& x, const at::Tensor& f) {
    return at::_fused_rms_norm_backward(dy, x, shape, f, whole_of(weight), mask);
  };
  const bool is_by_rows =
      static_cast<int64_t>(shape.size()) < input.dim() && has_rows(factor, input);
  const auto pass =
      is_by_rows ? pass_of(input, gradient, mask[0], {factor, given(weight)}) : std::nullopt;
  if (!pass) {
    return of(whole(gradient), whole(input), whole(factor));
  }
  const auto [dx, dw, none] =
      by_rows(*pass, type_of(weight, input),
              [&](const at::Tensor& dy, const at::Tensor& x, int64_t first, int64_t last) {
                const auto [dx_rows, dw_rows] = of(dy, x, ops::slice_of(factor, first, last));
                return Gradients{dx_rows, dw_rows, at::Tensor()};
              });
  return {dx, dw};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, TESTING_ONLY_GenericWrapper, m) {
  m.impl("native_batch_norm_backward", native_batch_norm_backward);
  m.impl("cudnn_batch_norm_backward", cudnn_batch_norm_backward);
  m.impl("native_layer_norm_backward", native_layer_norm_backward);
  m.impl("native_group_norm_backward", native_group_norm_backward);
  m.impl("_fused_rms_norm_backward", fused_rms_norm_backward);
}

}  // namespace fewbit::session

#pragma once

#include <optional>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>

/// The gradients of activations out of numbers instead of codes: where it turns out that a
/// logarithm or a quotient takes the result, such as log(elu(x) + 1), whose f'(x) falls to 0, far
/// below the error of any table; and where others save these numbers as they are, so that codes
/// would be bytes for nothing.
namespace fewbit::ops {

/// How libtorch has a gradient: out of x, or
struct ExactGradient {
  bool is_of_result;  ///< out of f(x) where that is written over x; of relu anywhere
  bool is_step;       ///< one of few values, which codes tell exactly
};

/// Nothing where it has none.
std::optional<ExactGradient> exact_gradient_of(std::string_view function,
                                               c10::ArrayRef<double> parameters);

/// dy f'(x), in the layout of dy. kept: x, but f(x) where `in_place` and is_of_result hold. Throws
/// c10::Error for a function that has none.
at::Tensor exact_gradient(const at::Tensor& dy, const at::Tensor& kept, std::string_view function,
                          c10::ArrayRef<double> parameters, bool in_place);

}  // namespace fewbit::ops

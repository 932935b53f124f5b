#pragma once

#include <string_view>

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>

/// The gradients of activations out of their input: where it turns out that a logarithm or a
/// quotient takes the result, such as log(elu(x) + 1), whose f'(x) falls to 0, far below the error
/// of any table; and where others keep the input as it is, or the output of relu, which serves as
/// well, so that codes would be bytes for nothing.
namespace fewbit::ops {

/// Whether libtorch has it.
bool has_exact_gradient(std::string_view function, c10::ArrayRef<double> parameters);

/// dy f'(x), in the layout of dy. Throws c10::Error for a function that has none.
at::Tensor exact_gradient(const at::Tensor& dy, const at::Tensor& x, std::string_view function,
                          c10::ArrayRef<double> parameters);

}  // namespace fewbit::ops

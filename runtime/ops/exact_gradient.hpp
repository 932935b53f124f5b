#pragma once

#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

/// The gradients of activations that may turn out to be what a logarithm or a quotient takes, such
/// as log(elu(x) + 1): there f'(x) falls to 0, far below the error of any table.
namespace fewbit::ops {

bool has_exact_gradient(std::string_view function);

/// dy f'(x), in the layout of dy. Throws c10::Error for a function that has none.
at::Tensor exact_gradient(const at::Tensor& dy, const at::Tensor& x, std::string_view function,
                          const std::vector<double>& parameters);

}  // namespace fewbit::ops

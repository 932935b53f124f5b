#include "ops/exact_gradient.hpp"

#include <ATen/ops/elu_backward.h>
#include <c10/util/Exception.h>

namespace fewbit::ops {

bool has_exact_gradient(std::string_view function) {
  return function == "elu" || function == "celu";
}

at::Tensor exact_gradient(const at::Tensor& dy, const at::Tensor& x, std::string_view function,
                          const std::vector<double>& parameters) {
  TORCH_CHECK(has_exact_gradient(function), "fewbit::activation: the exact gradient of ", function,
              " is asked for, which it does not have");
  const double alpha = parameters.at(0);
  const double input_scale = function == "celu" ? 1.0 / alpha : 1.0;
  return at::elu_backward(dy, alpha, 1.0, input_scale, /*is_result=*/false, x);
}

}  // namespace fewbit::ops

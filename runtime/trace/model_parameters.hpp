#pragma once

#include <ATen/core/Tensor.h>

#include "trace/running_operations.hpp"

// What of a tensor is the model's own, by the graph behind it.
namespace fewbit::session {

/// Whether it is a parameter, a view or a cast of one.
bool is_of_model(const at::Tensor& tensor);

/// Where the parameters lie that ask for a gradient and that the operation took which made the
/// tensor, or what it is a view or a cast of.
Addresses parameters_of_maker(const at::Tensor& tensor);

/// Whether it is made of nothing but parameters that ask for a gradient, by views, casts, copies,
/// cat and stack.
bool is_made_of_parameters(const at::Tensor& tensor);

/// Whether it is a view or a cast of a parameter that asks for a gradient.
bool is_of_parameter(const at::Tensor& tensor);

}  // namespace fewbit::session

#pragma once

#include <map>
#include <string>

#include <ATen/core/Tensor.h>

namespace fewbit::bench {

using LibtorchFunction = at::Tensor (*)(const at::Tensor&);

/// libtorch's own activation, or what its users write where it has none, by the registry's name and
/// with the registry's default parameters.
const std::map<std::string, LibtorchFunction>& libtorch_functions();

}  // namespace fewbit::bench

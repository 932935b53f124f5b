#pragma once

#include <functional>
#include <optional>

#include <ATen/core/Tensor.h>

namespace fewbit {

/// What a tensor of a Python subclass stands for.
struct TensorSubclass {
  at::Tensor inner;  ///< a plain tensor that holds its elements, or those of this process
  /// Makes a tensor as that one of another inner one of the same sizes.
  std::function<at::Tensor(const at::Tensor&)> wrapped;
};

/// Has the function say what a saved tensor of a Python subclass stands for, in the whole process:
/// its inner tensor is stored in its place. Nothing: the tensor is left alone, as all such tensors
/// are before this is called. Called in the thread that saves; nullptr: nobody is asked. fewbit for
/// Python does so for torch's DTensor.
///
/// ```cpp
/// fewbit::look_into_subclasses([](const at::Tensor& /*tensor*/) {
///   return std::optional<fewbit::TensorSubclass>();  // knows none
/// });
/// fewbit::look_into_subclasses(nullptr);
/// ```
void look_into_subclasses(std::function<std::optional<TensorSubclass>(const at::Tensor&)> inner_of);

}  // namespace fewbit

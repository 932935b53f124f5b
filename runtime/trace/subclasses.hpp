#pragma once

#include <memory>
#include <optional>

#include "fewbit/tensor_subclass.hpp"
#include "trace/saved_tensors.hpp"

namespace fewbit::session {

bool is_of_subclass(const at::Tensor& tensor);

/// What it stands for, as look_into_subclasses' function says.
std::optional<TensorSubclass> looked_into(const at::Tensor& tensor);

/// The event as if the inner tensor was saved.
SaveEvent of_inner(const SaveEvent& event, const at::Tensor& inner);

/// What is kept of the inner tensor, as one of the subclass.
std::unique_ptr<const PackedTensor> wrapped(std::unique_ptr<const PackedTensor> kept,
                                            TensorSubclass subclass);

}  // namespace fewbit::session

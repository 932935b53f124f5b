#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "compression/operators/operator.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

/// Whether the model holds it, frozen or not, or a view or a cast of it.
using IsOfModel = std::function<bool(const at::Tensor&)>;

/// A copy of a parameter as it is now, which calls of one forward share.
using CopyOf = std::function<at::Tensor(const at::Tensor&)>;

/// What the model holds of a weight.
using WeightOf = std::function<Weight(const at::Tensor&)>;

/// The second of two tensors that a call has added, both of the result's sizes, unless the model
/// holds it.
std::optional<at::Tensor> addend_of(const RecordedCall& call, const IsOfModel& is_of_model);

/// The kind of recomputation that a call's first result would have, where its operation tells;
/// else empty.
std::string_view kind_of(const RecordedCall& call);

/// The recipe for a call's first result; nothing where there is none.
std::optional<Recipe> recipe_of(const RecordedCall& call, const Beside& beside,
                                const IsOfModel& is_of_model, const CopyOf& copy_of,
                                const WeightOf& weight_of);

}  // namespace fewbit::session

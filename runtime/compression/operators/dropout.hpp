#pragma once

#include <optional>

#include "compression/operators/operator.hpp"

namespace fewbit::session {

/// What dropout by multiplication gives: x times the mask that it saved, times the scale. Nothing
/// where none is known.
std::optional<Recipe> dropped_again(const at::Tensor& x, const Beside& beside, double scale);

/// Whether a product saves what dropout multiplies by: drawn inside of it, so that no gradient runs
/// through it.
bool is_of_dropout(const SaveEvent& event);

}  // namespace fewbit::session

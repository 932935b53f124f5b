#pragma once

#include <variant>

#include "kernels/activation/cpu/lines.hpp"
#include "kernels/activation/cpu/logistic.hpp"
#include "kernels/activation/cpu/segments.hpp"
#include "kernels/activation/cpu/values.hpp"

namespace fewbit::kernels {

/// What takes the place of a function's own loop over floats, at the accuracy that activation.hpp
/// states and faster: nothing, or the first kind in this order that serves every x.
using Fitted = std::variant<std::monostate, Lines, Logistic, SegmentTable>;

/// Takes a few milliseconds. Fits nothing where the kinks are not known.
Fitted fit(const DefaultFunction& function);

}  // namespace fewbit::kernels

#pragma once

#include "expression/tape.hpp"

namespace fewbit::solver {

/// Adds `node` to the tape, in a form that cancels less where one is known: sigmoid and softplus
/// for what people write with exp and log. The same function in exact arithmetic.
int add_rewritten(TapeBuilder& tape, const Node& node);

}  // namespace fewbit::solver

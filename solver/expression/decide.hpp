#pragma once

#include "expression/expression.hpp"

namespace fewbit::solver {

/// Folds constants (parameters become numbers), drops what nothing needs and rewrites what cancels.
Expression simplify(const Expression& f);

/// The switching node to decide first: one that the value of f needs for sure, so that a branch
/// which is never taken is gone before it is looked at. -1: none is left.
int next_switch(const Expression& f);

/// The smooth expression whose sign decides switching node `index`: its zeros are the kinks. `part`
/// tells the two borders of a clamp apart.
Expression condition_of(const Expression& f, size_t index, int part);

/// f with the branch that is taken at x in the place of switching node `index`. Throws Error when
/// the condition is not a number there.
Expression decide(const Expression& f, size_t index, double x);

}  // namespace fewbit::solver

#pragma once

#include "expression/derivative.hpp"
#include "table/table.hpp"

namespace fewbit::solver {

/// Neighbouring values of the weight with different levels.
struct Neighbours {
  double left;
  double right;
  double left_level;
  double right_level;
};

/// A threshold from `left` on and below `right`. No error says where between both it has to be: it
/// stands where f' first passes the middle of the two levels, else half-way; at 12 decimals where
/// these lie between both, and at a number of `dtype` where one does. `positive`: it is above zero.
double cut_between(const Derivative& derivative, const Neighbours& values, DataType dtype,
                   bool positive);

}  // namespace fewbit::solver

#pragma once

#include <compare>
#include <vector>

namespace fewbit::session {

/// Another way to code a tensor.
struct Alternative {
  double bits;                ///< of an element, in addition to those of its code
  std::vector<double> error;  ///< relative, of codes of 1, 2, ... bits

  auto operator<=>(const Alternative&) const = default;
};

/// A site whose tensor is coded.
struct Demand {
  double elements;
  double weight;              ///< of a relative squared error there, compared with one elsewhere
  std::vector<double> error;  ///< relative, of 1, 2, ... bits
  int fixed = 0;              ///< bits that are given; 0: to be found
  double recomputed = 0.0;    ///< elements recomputed from these, which add to the bits to spend
  std::vector<Alternative> alternatives = {};
};

struct BitSplit {
  std::vector<int> bits;          ///< of every site
  std::vector<int> alternatives;  ///< of every site, which one of its own; -1: none
  double loss = 0.0;              ///< the sum of elements * weight * error
  double bound = 0.0;             ///< no split within the budget has a smaller sum
};

/// Bits for every site, whole ones from 1 to as many as it has errors for, and one of its
/// alternatives or none, so that the loss is least while no more than `average` bits an element are
/// spent, recomputed ones among them, or as many as one bit everywhere takes.
///
/// A selection as knapsack.hpp finds it, which does not depend on the order of the sites,
/// but for sites that are alike.
BitSplit split_bits(const std::vector<Demand>& demands, double average);

}  // namespace fewbit::session

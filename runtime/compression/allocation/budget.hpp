#pragma once

#include <cstdint>
#include <vector>

namespace fewbit::session {

/// A site whose tensor is coded.
struct Demand {
  double elements;
  double weight;              ///< of a relative squared error there, compared with one elsewhere
  std::vector<double> error;  ///< relative, of 1, 2, ... bits
  int fixed = 0;              ///< bits that are given; 0: to be found
  double recomputed = 0.0;    ///< elements recomputed from these, which add to the bits to spend
};

struct BitSplit {
  std::vector<int> bits;  ///< of every site
  double loss = 0.0;      ///< the sum of elements * weight * error
  double bound = 0.0;     ///< no split within the budget has a smaller sum
};

/// Bits for every site, whole ones from 1 to as many as it has errors for, so that the loss is
/// least while no more than `average` bits an element are spent, recomputed ones among them, or as
/// many as one bit everywhere takes.
///
/// A selection as knapsack.hpp finds it, which does not depend on the order of the sites,
/// but for sites that are alike.
BitSplit split_bits(const std::vector<Demand>& demands, double average);

}  // namespace fewbit::session

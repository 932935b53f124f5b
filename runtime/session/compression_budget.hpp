#pragma once

#include <cstdint>
#include <vector>

namespace fewbit::session {

/// A place whose tensor is coded.
struct Demand {
  double elements;
  double weight;              ///< of a relative squared error there, beside one elsewhere
  std::vector<double> error;  ///< relative, of 1, 2, ... bits; falling
  int fixed = 0;              ///< bits that are given; 0: to be found
  double derived = 0.0;  ///< elements elsewhere that come of these, and add to the bits to spend
};

/// Bits for every place, whole ones from 1 to as many as it has errors for, so that the sum of
/// elements * weight * error is least while no more than `average` bits an element are spent,
/// derived ones among them, or as many as one bit everywhere takes. The next bit always goes where
/// it helps most per element, which is the best split wherever a bit more never helps more than the
/// one before it, but for what is left in the end: less than one bit of the place that came next.
std::vector<int> split_bits(const std::vector<Demand>& demands, double average);

}  // namespace fewbit::session

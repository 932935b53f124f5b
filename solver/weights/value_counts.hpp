#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "table/table.hpp"
#include "weights/discrete.hpp"

namespace fewbit::solver {

/// Counts how often each value comes, as long as there are at most kMostValues different ones.
/// Magnitudes below kLeastSample count as zero.
class ValueCounts {
 public:
  ValueCounts();

  /// The next numbers, all finite.
  void add(std::span<const double> block);

  /// Shares of the values, those outside of `ends` counted at the nearer end; ascending. Empty
  /// where there were too many.
  std::vector<ValueMass> shares(const Domain& ends) const;

 private:
  struct Slot {
    double value = 0.0;
    size_t count = 0;
  };

  Slot& slot_of(double value);

  std::vector<Slot> slots_;  ///< open addressing; count 0: free
  size_t used_ = 0;
  size_t total_ = 0;
};

}  // namespace fewbit::solver

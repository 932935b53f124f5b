#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/element_type.hpp"

/// Elements that are so great that a few bits of their group would leave nothing of the others. A
/// codec's error spreads over a group and is a share of the group's energy, or of its range.
namespace fewbit::kernels {

/// Consecutive elements that are looked at together; the last ones with what is behind them.
inline constexpr int64_t kNeighbours = 256;

/// So many extremes there are among neighbours, or there are none.
inline constexpr int kMostExtremes = 4;

/// Neighbours with fewer are not looked at.
inline constexpr int64_t kFewestNeighbours = 64;

constexpr int64_t neighbourhoods(int64_t count) {
  return count >= kNeighbours ? count / kNeighbours : count >= kFewestNeighbours ? 1 : 0;
}

struct Extreme {
  int64_t place;
  double instead;  ///< the mean of the neighbours that are none
};

/// Adds those of neighbourhoods [begin, end), in order. Of neighbours at most kMostExtremes that
/// together hold more than half of the energy about the mean, each more than an eighth of what is
/// left with it; none where more elements would have to go, where most elements are 0, or where one
/// is not finite.
void find_extremes(ElementType type, const void* x, int64_t count, int64_t begin, int64_t end,
                   std::vector<Extreme>& found);

/// A number that many elements are, or are near: what masks and padding put in.
struct Fill {
  double value;
  double near;  ///< what is no further from the value is as small as the other elements
};

/// The fill of a run, if a sample of it shows one: at least 1 / 32 of the elements that are not 0
/// are 8 times greater than at least 1 / 32 of them, with none between, and a quarter of these are
/// near one number.
std::optional<Fill> find_fill(ElementType type, const void* x, int64_t count);

}  // namespace fewbit::kernels

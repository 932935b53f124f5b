#pragma once

#include <optional>

#include "kernels/activation/cpu/values.hpp"

namespace fewbit::kernels {

/// A function of three pieces, each (c2 x + c1) x + c0: relu and its family, hardswish.
struct Lines {
  enum Side { kLeft, kMiddle, kRight };

  int degree = 1;  ///< of the pieces
  /// 1: the middle piece of x clamped to [left_end, right_begin] gives all; 2: the middle and the
  /// right piece are one.
  int pieces = 0;
  float left_end = 0.0f;     ///< the left piece holds up to here, inclusive,
  float right_begin = 0.0f;  ///< the right one from here on
  float c[3][3] = {};        ///< of each side: c0, c1, c2

  /// Bounds of x as what c1 and c2 multiply, so that infinity meets no zero; of c0 unused.
  float low[3] = {};
  float high[3] = {};

  bool operator==(const Lines&) const = default;
};

/// Recognises such a function by its values, and holds what it found against them everywhere.
std::optional<Lines> fit_lines(const DefaultFunction& function);

}  // namespace fewbit::kernels

#pragma once

#include <optional>

#include "kernels/activation/cpu/values.hpp"

namespace fewbit::kernels {

/// What the polynomials of a SegmentTable stand for. Both are functions through the origin.
enum class SegmentKind {
  gate,  ///< f(x) = x P(x), P from 0 to 1 (gelu, mish)
  odd,   ///< f(x) = P(|x|) with the sign of x, P from 0 to a limit (tanh)
};

/// A function of default parameters as polynomials on 32 cells of equal width. Cell r = round(x /
/// w), first <= r < first + 32, stands at index r mod 32 and is a polynomial in x - r w, or in |x|;
/// the outermost are constants, the limits of P. Two registers of 16 floats hold one coefficient of
/// all cells, so that one permutation of two registers fetches it, and no function needs code of
/// its own.
///
/// The error stays within what activation.hpp states, but small values in a tail lose their
/// relative accuracy, which would matter for the like of sigmoid or softplus.
struct SegmentTable {
  static constexpr int kCells = 32;
  static constexpr int kMinDegree = 5;
  static constexpr int kMaxDegree = 7;

  int degree = kMinDegree;
  SegmentKind kind = SegmentKind::gate;
  int first = 0;       ///< the number of the lowest cell; 0 where |x| is cut
  float width = 0.0f;  ///< w
  alignas(64) float coefficient[kMaxDegree + 1][kCells] = {};

  bool operator==(const SegmentTable&) const = default;

  /// The middles of the outermost cells, between which x or |x| is clamped for P.
  float low() const { return static_cast<float>(first) * width; }
  float high() const { return static_cast<float>(first + kCells - 1) * width; }
};

/// Fits by interpolation at Chebyshev nodes, smallest width first, then smallest degree, and checks
/// with the very arithmetic of the kernel on many points of every cell, and all over the floats.
std::optional<SegmentTable> fit_segments(const DefaultFunction& function);

}  // namespace fewbit::kernels

#pragma once

#include <cstdint>
#include <optional>

#include "kernels/quantizer/rotated.hpp"

/// What the groups of a rotated run need in addition to vectors of floats.
namespace fewbit::kernels {

/// As they are stored: mean and factor times 2^exponent, which is 0 unless doubles store them.
struct RotatedConstants {
  float mean;
  float factor;
  int exponent;
};

/// `signs`: of the group, which say how the factor is rounded.
void put_constants(ElementType type, const RotatedConstants& constants, const uint32_t* signs,
                   void* to);
RotatedConstants constants_of(ElementType type, const void* from);

/// The elements times a power of two that brings the greatest between 1 and 2, then zeros up to
/// `group`; the exponent of what undoes that, or nothing where an element is not finite.
std::optional<int> scaled_elements(ElementType type, const void* from, int64_t count, int64_t group,
                                   float* to);

/// Doubles: x times 2^exponent, clamped to finite ones.
void store_scaled(const float* x, int64_t count, int exponent, void* to);

}  // namespace fewbit::kernels

#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/element_type.hpp"
#include "kernels/host_device.hpp"
#include "kernels/quantizer/element_classes.hpp"

/// The affine maps by which elements of known classes are coded: there, less its class's mean and
/// over a weight that grows with the root of its class's deviation, and back.
///
/// Means and deviations are those of a sample, of every sample_step()-th element that is finite;
/// of a class that it met less than twice, those of all. Everything is in double and in one order
/// on every device, so that the maps are the same everywhere: element i of the sample is lane i %
/// kSampleLanes's; a lane adds its own one after the other; the lanes of a warp are joined at
/// distances 16, 8, ... 1, then the warps one after the other. No multiplication is fused with an
/// addition.
namespace fewbit::kernels {

inline constexpr int64_t kMostSampled = 4096;
inline constexpr int kSampleWarp = 32;
inline constexpr int kSampleLanes = 256;

/// The least deviation of a class that counts, of the greatest one: what lies beyond the deviations
/// of a class that seemed to have hardly any would else outweigh all.
inline constexpr double kLeastShare = 0x1p-10;

/// An odd number, so that all of a power of two is met.
FEWBIT_HD inline int64_t sample_step(int64_t count) {
  return (count + kMostSampled - 1) / kMostSampled | 1;
}

/// Of elements less a number in their midst, lest squares cancel.
struct ClassSums {
  double count = 0.0, sum = 0.0, squares = 0.0;

  FEWBIT_HD void add(double v) {
    count += 1.0;
    sum += v;
    squares += v * v;
  }
  FEWBIT_HD void join(const ClassSums& other) {
    count += other.count;
    sum += other.sum;
    squares += other.squares;
  }
};

struct ClassMoments {
  double mean;
  double deviation;
};

FEWBIT_HD inline ClassMoments moments_of(const ClassSums& of_class, const ClassSums& all,
                                         double middle) {
  const ClassSums& sums = of_class.count < 2.0 ? all : of_class;
  const double known = sums.count < 1.0 ? 1.0 : sums.count;
  const double mean = sums.sum / known;
  const double variance = sums.squares / known - mean * mean;
  return {mean + middle, variance > 0.0 ? std::sqrt(variance) : 0.0};
}

/// Of a class, there and back.
struct ClassMapPair {
  float scale_there, shift_there, scale_back, shift_back;
};

/// greatest: of the deviations. is_zero: elements are 0, and come back as that.
FEWBIT_HD inline ClassMapPair map_pair(const ClassMoments& moments, double greatest, bool is_zero) {
  if (is_zero) return {0.0f, 0.0f, 0.0f, 0.0f};
  const double share = moments.deviation / greatest;
  const double weight = 2.0 * std::sqrt((share < kLeastShare ? kLeastShare : share) / kLeastShare);
  // Not where all is one number. At least 2, so that no difference to a mean leaves the range of
  // floats.
  const bool is_usual = weight >= 2.0 && std::isfinite(moments.mean);
  const float scale = is_usual ? static_cast<float>(weight) : 2.0f;
  const float shift = is_usual ? static_cast<float>(moments.mean) : 0.0f;
  const float inverse = 1.0f / scale;
  return {inverse, -(shift * inverse), scale, shift};
}

/// What maps are made of and where they go.
struct ClassMapsFormat {
  ElementType type;  ///< not f64
  int64_t count;     ///< elements of the run
  int bits;          ///< of a class, 1 to 8
  int classes;       ///< at most kMostClasses
  int zero;          ///< the class whose elements are 0; -1: none
};

/// The class of an element, by the bytes of a stream that has `last` + 1.
FEWBIT_HD inline int class_at(const uint8_t* codes, int bits, int64_t last, int64_t element) {
  const int64_t bit = element * bits;
  const int64_t next = bit / 8 < last ? bit / 8 + 1 : last;
  const int word = codes[bit / 8] | codes[next] << 8;
  return word >> bit % 8 & ((1 << bits) - 1) & (kMostClasses - 1);
}

/// there and back: [2, classes] each, scales before shifts.
void class_maps(const ClassMapsFormat& format, const void* x, const uint8_t* codes, float* there,
                float* back);

}  // namespace fewbit::kernels

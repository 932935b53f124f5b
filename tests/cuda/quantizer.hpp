#pragma once

#include "tests/cuda/support.hpp"

/// What tests of the quantizers on the device share.
namespace fewbit::kernels::cuda {

inline constexpr int64_t kGroups[] = {64, 128, 256, 512, 1024};

struct Coded {
  std::vector<uint8_t> codes;
  std::vector<uint8_t> constants;
  bool operator==(const Coded&) const = default;
};

/// Groups one after the other that are constant, zero, without numbers, far from zero, of one
/// element, or usual.
inline std::vector<double> odd_groups(int64_t group, int64_t count) {
  std::vector<double> x = normal_inputs(count, 11);
  for (int64_t i = 0; i < count; ++i) {
    double& value = x[static_cast<size_t>(i)];
    switch (i / group % 11) {
      case 0:
        value = 3.25;
        break;
      case 1:
        value = 0.0;
        break;
      case 2:
        value = -0.0;
        break;
      case 3:
        value = i % group == 7 ? NAN : value;
        break;
      case 4:
        value = i % group == 9 ? INFINITY : value;
        break;
      case 5:
        value = 1000.0 + value;
        break;
      case 6:
        value = i % group == 5 ? -17.0 : 0.0;
        break;
      case 7:
        value = -1e-7 * value * value;
        break;
      case 8:
        value = i % 2 == 0 ? -0.0 : 0.0;
        break;
      case 9:
        value = i % group == 3 ? -NAN : -INFINITY;
        break;
      default:
        break;
    }
  }
  return x;
}

/// The same of other scales: two groups of 64 in three.
inline std::vector<double> scaled_inputs(int64_t count, double scale) {
  std::vector<double> x = normal_inputs(count, 13);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = std::clamp(x[i], -1.0, 1.0) * (i / 64 % 3 == 1 ? 1.0 : scale);
  }
  return x;
}

/// Scales from the least to the greatest numbers of a type.
inline std::vector<double> scales_of(ElementType type) {
  if (type == ElementType::f16) return {6e-8, 1e-6, 1e-4, 60000.0, 65504.0};
  std::vector<double> scales = {1e-45, 1e-40, 1e-38, 1e-30, 1e-15, 1e15, 1e30, 1e38, 3.4e38};
  if (type == ElementType::f64) {
    scales.insert(scales.end(), {5e-324, 1e-320, 1e-300, 1e-60, 1e60, 1e300, 1.79e308});
  }
  return scales;
}

}  // namespace fewbit::kernels::cuda

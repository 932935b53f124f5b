#pragma once

#include "kernels/activation.hpp"
#include "kernels/cpu/values.hpp"

/// A pass works block by block, each block through stages that know nothing of each other. All take
/// whole blocks of kBlock elements; a short last block goes through padded copies.
namespace fewbit::kernels {

/// Widens kBlock elements of a type. For fp64 the smallest float not below the element (its
/// absolute value where the table is even), which compares with thresholds as the element does.
using LoadStage = void(const void* from, float* x);

/// Narrows kBlock elements to a type.
using StoreStage = void(const float* y, void* to);

/// What finding codes needs, prepared once per pass.
struct EncodePlan;
using EncodeStage = void(const EncodePlan& plan, int64_t first, const float* x, uint8_t* codes);

struct ForwardCall {
  const Activation* activation;
  const double* parameters;
  const StepView* steps;
  const PhiloxState* random;  ///< null unless the form is unbiased
  ElementType type;
  const void* x;
  void* y;
  uint8_t* codes;
  Range range;
};

struct BackwardCall {
  const StepView* steps;
  ElementType type;
  const void* dy;
  const uint8_t* codes;
  void* dx;
  Range range;
};

/// Traffic of a pass in bytes from which on its output is stored past the caches.
inline constexpr int64_t kPastCacheBytes = int64_t{1} << 25;

}  // namespace fewbit::kernels

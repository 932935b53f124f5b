#pragma once

#include "kernels/activation/activation.hpp"
#include "kernels/activation/cpu/function_kernels.hpp"
#include "kernels/stream/cpu/element_stages.hpp"

/// A pass works block by block, each block through stages that know nothing of each other. All take
/// whole blocks of kBlock elements; a short last block goes through padded copies.
namespace fewbit::kernels {

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

}  // namespace fewbit::kernels

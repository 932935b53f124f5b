#pragma once

#include <cstdint>
#include <functional>

#include <ATen/core/Tensor.h>

namespace fewbit::session {

/// Bytes of a forward and a backward whose gradients nobody gets.
struct MeasuredStep {
  int64_t kept = 0;          ///< that autograd saves
  int64_t forward_peak = 0;  ///< beyond what tensors held before
  int64_t peak = 0;          ///< with backward
};

/// Of tensors of the device. The caller's name: for errors.
MeasuredStep measured_step(const char* caller, at::Device device,
                           const std::function<at::Tensor()>& forward);
/// The higher peaks of two steps, and what the second keeps.
MeasuredStep higher(const MeasuredStep& first, const MeasuredStep& second);

/// Runs backward from a result of any shape, whose gradients live to its end.
void run_backward(const at::Tensor& result);
/// Where the result is.
at::Device home_of(const at::Tensor& result);

}  // namespace fewbit::session

#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "kernels/activation.hpp"

namespace fewbit::ops {

/// The table arguments of an operation, as the schema passes them.
struct StepTensors {
  const at::Tensor& thresholds;      ///< float32 [m - 1]; for double x float64 as well
  const at::Tensor& interval_codes;  ///< uint8 [m], or [m + 1] with a NaN's; empty if unbiased
  const at::Tensor& levels;          ///< float32 [k]; for double x float64 with such thresholds
  bool even;
};

/// The same as the kernels read them; points into the tensors. Every check_ throws c10::Error
/// naming the operation, the argument, what was seen and what is accepted.
kernels::StepView check_step(const char* operation, const StepTensors& step,
                             kernels::ElementType type);
kernels::StepView check_levels(const char* operation, const at::Tensor& levels,
                               kernels::ElementType type);

/// One tensor of a device among the arguments brings a call to that device's kernels.
void check_device(const char* operation, const char* argument, const at::Tensor& tensor,
                  at::DeviceType device);

kernels::ElementType check_element_type(const char* operation, const at::Tensor& tensor);

const kernels::Activation& check_function(const char* operation, const std::string& function);

/// The parameters; none given means the defaults.
std::vector<double> check_parameters(const char* operation, const kernels::Activation& function,
                                     at::ArrayRef<double> parameters);

/// Bits of one code: the least that tells the levels apart. Their number is never symbolic: traces
/// are of one table size.
int bits_of(const at::Tensor& levels);

/// kernels::code_bytes of a count that may be symbolic.
c10::SymInt code_bytes(const c10::SymInt& count, int bits);

/// Codes of as many elements as dy has, on its device.
void check_codes(const char* operation, const at::Tensor& codes, const at::Tensor& dy, int bits);

}  // namespace fewbit::ops

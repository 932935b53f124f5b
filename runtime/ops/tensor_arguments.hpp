#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/element_type.hpp"

/// Checks of arguments that are tensors. All throw c10::Error naming the operation, the argument,
/// what was seen and what is accepted.
namespace fewbit::ops {

/// One tensor of a device among the arguments brings a call to that device's kernels.
void check_device(const char* operation, const char* argument, const at::Tensor& tensor,
                  at::DeviceType device);

kernels::ElementType check_element_type(const char* operation, const at::Tensor& tensor);
kernels::ElementType check_element_type(const char* operation, at::ScalarType type);

/// A number of elements.
void check_count(const char* operation, const c10::SymInt& count);

/// A stream of codes, however many.
void check_stream_type(const char* operation, const at::Tensor& codes);

/// Codes of `count` elements.
void check_stream(const char* operation, const at::Tensor& codes, const c10::SymInt& count,
                  int bits);

/// Codes of as many elements as dy has, on its device.
void check_codes(const char* operation, const at::Tensor& codes, const at::Tensor& dy, int bits);

/// One int64 on x's device.
void check_seed(const char* operation, const std::optional<at::Tensor>& seed, const at::Tensor& x);

/// kernels::code_bytes of a count that may be symbolic.
c10::SymInt code_bytes(const c10::SymInt& count, int bits);

/// An empty stream for `count` codes, on the device of the options.
at::Tensor empty_codes(const c10::SymInt& count, int bits, const at::TensorOptions& options);

}  // namespace fewbit::ops

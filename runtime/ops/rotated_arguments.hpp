#pragma once

#include <tuple>

#include <ATen/core/Tensor.h>

#include "ops/rotated.hpp"

/// Checks of the arguments of rotated_encode and rotated_decode, the same on every device, and what
/// these make. All throw c10::Error naming the operation, the argument, what was seen and what is
/// accepted.
namespace fewbit::ops {

inline constexpr const char* kRotatedEncode = "fewbit::rotated_encode";
inline constexpr const char* kRotatedDecode = "fewbit::rotated_decode";
inline constexpr const char* kEncodeTogether = "fewbit::rotated_encode_together";
inline constexpr const char* kDecodeTogether = "fewbit::rotated_decode_together";

/// Whether there are such codes.
void check_codes(const char* operation, const RotatedCodes& form);

/// The type of x's elements.
kernels::ElementType check_rotated_encoding(const at::Tensor& x, const RotatedCodes& form,
                                            const at::Tensor& seed);

/// The type of the elements.
kernels::ElementType check_rotated_decoding(const at::Tensor& codes, const at::Tensor& constants,
                                            const c10::SymInt& count, const RotatedCodes& form,
                                            at::ScalarType dtype, const at::Tensor& seed);

/// The same of several tensors, and whether there are as many codes, constants and offsets; bf16
/// where there are none.
kernels::ElementType check_encoding_together(at::TensorList xs, const RotatedCodes& form,
                                             const at::Tensor& seed, at::IntArrayRef offsets,
                                             at::TensorList codes, at::TensorList constants);
kernels::ElementType check_decoding_together(at::TensorList codes, at::TensorList constants,
                                             at::IntArrayRef counts, const RotatedCodes& form,
                                             at::ScalarType dtype, const at::Tensor& seed,
                                             at::IntArrayRef offsets);

/// Codes and constants of so many elements, on the device of the options.
std::tuple<at::Tensor, at::Tensor> empty_rotated(const c10::SymInt& count, const RotatedCodes& form,
                                                 kernels::ElementType type,
                                                 const at::TensorOptions& options);

/// Without the seed, for the device decides when it is read.
kernels::RotatedFormat rotated_format(kernels::ElementType type, const RotatedCodes& form,
                                      int64_t count, int64_t offset);

/// The same of a part of a run that begins with element `first`.
kernels::RotatedFormat part_of(const char* operation, kernels::RotatedFormat format, int64_t first);

}  // namespace fewbit::ops

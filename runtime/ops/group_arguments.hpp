#pragma once

#include <optional>

#include <ATen/core/Tensor.h>
#include <c10/util/string_view.h>

#include "kernels/quantizer/group.hpp"

/// Checks of the arguments of group_encode and group_decode, the same on every device and without
/// one, and what these make. All throw c10::Error naming the operation, the argument, what was seen
/// and what is accepted.
namespace fewbit::ops {

inline constexpr const char* kGroupEncode = "fewbit::group_encode";
inline constexpr const char* kGroupDecode = "fewbit::group_decode";

/// What both operations are told in numbers and words.
struct GroupArguments {
  int64_t bits;
  int64_t group;
  c10::string_view rounding;
  const std::optional<at::Tensor>& seed;
  int64_t offset;
};

/// kernels::encoding_draws or decoding_draws.
using Draws = bool(kernels::Rounding);

/// The format without its random numbers, for the device decides when the seed is read, if the
/// operation draws by it. `beside`: a tensor whose device the seed is on.
kernels::GroupFormat check_group(const char* operation, Draws* draws, kernels::ElementType type,
                                 const GroupArguments& arguments, const at::Tensor& beside);

/// check_group of all arguments, `device` being the kernels' own.
kernels::GroupFormat check_group_encoding(at::DeviceType device, const at::Tensor& x,
                                          const GroupArguments& arguments);
kernels::GroupFormat check_group_decoding(at::DeviceType device, const at::Tensor& codes,
                                          const at::Tensor& constants, const c10::SymInt& count,
                                          const GroupArguments& arguments, at::ScalarType dtype);

/// What every codec in groups has in common.
void check_bits_and_group(const char* operation, int64_t bits, int64_t group);

/// The type of the constants of elements of a type.
at::ScalarType constants_type(kernels::ElementType type);

/// ceil(count / group).
c10::SymInt group_count(const c10::SymInt& count, int64_t group);

/// Constants of so many groups of elements of a type, on the device of the codes.
void check_constants(const char* operation, const at::Tensor& codes, const at::Tensor& constants,
                     const c10::SymInt& groups, kernels::ElementType type);

/// Empty ones, on the device of the options.
at::Tensor empty_constants(const c10::SymInt& groups, kernels::ElementType type,
                           const at::TensorOptions& options);

}  // namespace fewbit::ops

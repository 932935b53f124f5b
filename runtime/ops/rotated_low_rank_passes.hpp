#pragma once

#include <tuple>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/Exception.h>

#include "ops/rotated_arguments.hpp"
#include "ops/rotated_low_rank.hpp"
#include "ops/rotated_passes.hpp"
#include "ops/tensor_arguments.hpp"

// The operations of ops/rotated_low_rank.hpp as every device runs them: arguments checked, results
// allocated, and a device's passes between.

namespace fewbit::ops {

inline constexpr const char* kLowRankProject = "fewbit::low_rank_project";
inline constexpr const char* kRotatedLowRankEncode = "fewbit::rotated_low_rank_encode";
inline constexpr const char* kRotatedLowRankDecode = "fewbit::rotated_low_rank_decode";

/// Directions and coefficients in the memory of the device. basis: e4m3, [count, stride].
struct LowRankMemory {
  ChannelPlace place;
  int count;
  int64_t stride;
  const uint8_t* basis;
  const float* coefficients = nullptr;
  int64_t begin = 0;  ///< of the coefficients' elements, that the run begins with
};

/// `Device` has kType and the static functions, with the seed in the device's memory,
///   project(operation, ElementType, x, LowRankMemory, outer, coefficients)
///   encode(operation, RotatedFormat, seed, LowRankMemory, RotatedEncodeMemory)
///   decode(operation, RotatedFormat, seed, LowRankMemory, RotatedDecodeMemory)
template <class Device>
struct RotatedLowRankOperations {
  static at::Tensor project(const at::Tensor& x, const at::Tensor& basis, int64_t channels,
                            int64_t inner) {
    check_device(kLowRankProject, "x", x, Device::kType);
    const kernels::ElementType type = type_of(kLowRankProject, x);
    const LowRankMemory memory = memory_of(kLowRankProject, basis, {channels, inner}, x);
    const int64_t outer = blocks_of(kLowRankProject, x, memory.place);
    const c10::DeviceGuard guard(x.device());
    at::Tensor coefficients =
        at::empty({outer, memory.count, inner}, x.options().dtype(at::kFloat));
    if (outer > 0) {
      Device::project(kLowRankProject, type, x.const_data_ptr(), memory, outer,
                      coefficients.mutable_data_ptr<float>());
    }
    return coefficients;
  }

  static std::tuple<at::Tensor, at::Tensor> encode(const at::Tensor& x,
                                                   const at::Tensor& coefficients,
                                                   const at::Tensor& basis, int64_t channels,
                                                   int64_t inner, int64_t bits, int64_t group,
                                                   int64_t states, const at::Tensor& seed,
                                                   int64_t offset) {
    check_device(kRotatedLowRankEncode, "x", x, Device::kType);
    const RotatedCodes form{bits, group, states};
    type_of(kRotatedLowRankEncode, x);
    const kernels::ElementType type = check_rotated_encoding(x, form, seed);
    const LowRankMemory memory = with_coefficients(
        kRotatedLowRankEncode, memory_of(kRotatedLowRankEncode, basis, {channels, inner}, x),
        coefficients, 0, x.numel(), x);
    blocks_of(kRotatedLowRankEncode, x, memory.place);
    const c10::DeviceGuard guard(x.device());
    auto [codes, constants] = empty_rotated(x.numel(), form, type, x.options());
    Device::encode(kRotatedLowRankEncode, rotated_format(type, form, x.numel(), offset),
                   seed.const_data_ptr<int64_t>(), memory,
                   {x.const_data_ptr(), codes.template mutable_data_ptr<uint8_t>(),
                    static_cast<uint8_t*>(constants.mutable_data_ptr())});
    return {codes, constants};
  }

  static at::Tensor decode(const at::Tensor& codes, const at::Tensor& constants, int64_t count,
                           const at::Tensor& coefficients, const at::Tensor& basis,
                           int64_t channels, int64_t inner, int64_t begin, int64_t bits,
                           int64_t group, int64_t states, at::ScalarType dtype,
                           const at::Tensor& seed, int64_t offset, int64_t first) {
    check_device(kRotatedLowRankDecode, "codes", codes, Device::kType);
    const RotatedCodes form{bits, group, states};
    TORCH_CHECK_TYPE(dtype != at::kDouble, kRotatedLowRankDecode, ": no double is accepted");
    const kernels::ElementType type =
        check_rotated_decoding(codes, constants, count, form, dtype, seed);
    const LowRankMemory memory = with_coefficients(
        kRotatedLowRankDecode, memory_of(kRotatedLowRankDecode, basis, {channels, inner}, codes),
        coefficients, begin, count, codes);
    const c10::DeviceGuard guard(codes.device());
    at::Tensor x = at::empty({count}, codes.options().dtype(dtype));
    Device::decode(kRotatedLowRankDecode,
                   part_of(kRotatedLowRankDecode, rotated_format(type, form, count, offset), first),
                   seed.const_data_ptr<int64_t>(), memory,
                   {x.mutable_data_ptr(), codes.const_data_ptr<uint8_t>(),
                    static_cast<const uint8_t*>(constants.const_data_ptr())});
    return x;
  }

 private:
  static kernels::ElementType type_of(const char* operation, const at::Tensor& x) {
    TORCH_CHECK_TYPE(x.scalar_type() != at::kDouble, operation, ": no double is accepted");
    TORCH_CHECK_VALUE(x.is_contiguous(), operation, ": x is not contiguous");
    return check_element_type(operation, x.scalar_type());
  }

  static LowRankMemory memory_of(const char* operation, const at::Tensor& basis,
                                 const ChannelPlace& place, const at::Tensor& beside) {
    check_device(operation, "basis", basis, beside.device().type());
    TORCH_CHECK_VALUE(place.channels > 0 && place.inner > 0, operation, ": channels and inner are ",
                      place.channels, " and ", place.inner, ", accepted: above 0");
    const int64_t stride = basis_stride(place.channels);
    TORCH_CHECK_VALUE(
        basis.scalar_type() == at::kFloat8_e4m3fn && basis.dim() == 2 && basis.is_contiguous() &&
            basis.size(0) >= 1 && basis.size(0) <= kMostDirections && basis.size(1) == stride,
        operation, ": basis is ", basis.toString(), " ", basis.sizes(),
        ", accepted: float8_e4m3fn [1 to ", kMostDirections, ", ", stride, "], contiguous");
    return {place, static_cast<int>(basis.size(0)), stride,
            static_cast<const uint8_t*>(basis.const_data_ptr())};
  }

  static int64_t blocks_of(const char* operation, const at::Tensor& x, const ChannelPlace& place) {
    TORCH_CHECK_VALUE(x.numel() % place.block() == 0, operation, ": x has ", x.numel(),
                      " elements, accepted: a multiple of channels * inner, ", place.block());
    return x.numel() / place.block();
  }

  /// Of `count` elements from `begin` on.
  static LowRankMemory with_coefficients(const char* operation, LowRankMemory memory,
                                         const at::Tensor& coefficients, int64_t begin,
                                         int64_t count, const at::Tensor& beside) {
    check_device(operation, "coefficients", coefficients, beside.device().type());
    const int64_t block = memory.place.block();
    const int64_t blocks = (begin + count + block - 1) / block;
    TORCH_CHECK_VALUE(
        begin >= 0 && coefficients.scalar_type() == at::kFloat && coefficients.is_contiguous() &&
            coefficients.numel() >= blocks * memory.count * memory.place.inner,
        operation, ": coefficients are ", coefficients.toString(), " ", coefficients.sizes(),
        " for elements ", begin, " to ", begin + count, ", accepted: float [", blocks, " or more, ",
        memory.count, ", ", memory.place.inner, "], contiguous");
    memory.coefficients = coefficients.const_data_ptr<float>();
    memory.begin = begin;
    return memory;
  }
};

}  // namespace fewbit::ops

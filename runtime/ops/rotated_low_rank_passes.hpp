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

inline constexpr const char* kRotatedLowRankEncode = "fewbit::rotated_low_rank_encode";
inline constexpr const char* kRotatedLowRankDecode = "fewbit::rotated_low_rank_decode";

/// A run of elements and the run of their coefficients, with the basis in the device's memory.
struct LowRankRun {
  kernels::RotatedFormat format, of_coefficients;
  ChannelPlace place;
  int count;
  int64_t stride;
  const uint8_t* basis;  ///< as it is kept, [count, stride]

  int64_t coefficients(int64_t blocks) const { return blocks * count * place.inner; }
};

/// Elements from `begin` on, a multiple of 128 and of the group, as a run of its own: its format,
/// and the bytes before its codes and constants.
struct PartOfRun {
  kernels::RotatedFormat format;
  int64_t code_bytes, constant_bytes;

  PartOfRun(const kernels::RotatedFormat& run, int64_t begin, int64_t count)
      : format(run),
        code_bytes(begin / 8 * run.bits),
        constant_bytes(begin / run.group * run.constant_bytes_of_group()) {
    format.count = count;
    format.signs.first += static_cast<uint64_t>(begin) / kernels::kSignsOfDraw;
  }
};

/// Coefficients of the blocks that hold elements [begin, end), from the first of a group on.
struct CoefficientsOfPart {
  int64_t first_block, last_block;
  int64_t begin, end;  ///< of the coefficients
  int64_t before;      ///< of them, that are another block's

  CoefficientsOfPart(const LowRankRun& run, int64_t first, int64_t last) {
    const int64_t block = run.place.block();
    first_block = first / block;
    last_block = (last + block - 1) / block;
    const int64_t from = run.coefficients(first_block);
    begin = from / kGroupOfCoefficients * kGroupOfCoefficients;
    end = run.coefficients(last_block);
    before = from - begin;
  }
};

/// `Device` has kType and the static functions, with the seed in the device's memory,
///   encode(operation, LowRankRun, seed, RotatedEncodeMemory, RotatedMemory of coefficients)
///   decode(operation, LowRankRun, seed, RotatedDecodeMemory, RotatedDecodeMemory of coefficients,
///          begin, end)
/// Coefficients have codes and constants alone. What is decoded begins with a multiple of 1024.
template <class Device>
struct RotatedLowRankOperations {
  static LowRankCodes encode(const at::Tensor& x, const at::Tensor& basis, int64_t channels,
                             int64_t inner, int64_t coefficient_bits, int64_t bits, int64_t group,
                             int64_t states, const at::Tensor& seed, int64_t offset) {
    check_device(kRotatedLowRankEncode, "x", x, Device::kType);
    TORCH_CHECK_TYPE(x.scalar_type() != at::kDouble, kRotatedLowRankEncode,
                     ": no double is accepted");
    TORCH_CHECK_VALUE(x.is_contiguous(), kRotatedLowRankEncode, ": x is not contiguous");
    const LowRankForm form{{channels, inner}, coefficient_bits, {bits, group, states}};
    const kernels::ElementType type = check_rotated_encoding(x, form.rest, seed);
    const LowRankRun run =
        run_of(kRotatedLowRankEncode, basis, form, type, x.numel(), x, {seed, offset});
    const c10::DeviceGuard guard(x.device());
    auto [codes, constants] = empty_rotated(x.numel(), form.rest, type, x.options());
    auto [codes_there, constants_there] = empty_rotated(
        run.of_coefficients.count, form.coefficients(), kernels::ElementType::f32, x.options());
    const auto bytes = [](const at::Tensor& tensor) {
      return static_cast<uint8_t*>(tensor.mutable_data_ptr());
    };
    Device::encode(kRotatedLowRankEncode, run, seed.const_data_ptr<int64_t>(),
                   {x.const_data_ptr(), bytes(codes), bytes(constants)},
                   {nullptr, bytes(codes_there), bytes(constants_there)});
    return {codes, constants, codes_there, constants_there};
  }

  static at::Tensor decode(const at::Tensor& codes, const at::Tensor& constants,
                           const at::Tensor& coefficient_codes,
                           const at::Tensor& coefficient_constants, const at::Tensor& basis,
                           int64_t count, int64_t channels, int64_t inner, int64_t coefficient_bits,
                           int64_t bits, int64_t group, int64_t states, at::ScalarType dtype,
                           const at::Tensor& seed, int64_t offset, int64_t begin, int64_t end) {
    check_device(kRotatedLowRankDecode, "codes", codes, Device::kType);
    const LowRankForm form{{channels, inner}, coefficient_bits, {bits, group, states}};
    TORCH_CHECK_TYPE(dtype != at::kDouble, kRotatedLowRankDecode, ": no double is accepted");
    const kernels::ElementType type =
        check_rotated_decoding(codes, constants, count, form.rest, dtype, seed);
    const LowRankRun run =
        run_of(kRotatedLowRankDecode, basis, form, type, count, codes, {seed, offset});
    check_rotated_decoding(coefficient_codes, coefficient_constants, run.of_coefficients.count,
                           form.coefficients(), at::kFloat, seed);
    TORCH_CHECK_VALUE(begin >= 0 && begin <= end && end <= count, kRotatedLowRankDecode,
                      ": begin and end are ", begin, " and ", end, ", accepted: 0 to ", count);
    const Part part(begin, end, count);
    const c10::DeviceGuard guard(codes.device());
    at::Tensor x = at::empty({part.count()}, codes.options().dtype(dtype));
    const auto bytes = [](const at::Tensor& tensor) {
      return static_cast<const uint8_t*>(tensor.const_data_ptr());
    };
    if (part.count() > 0) {
      Device::decode(kRotatedLowRankDecode, run, seed.const_data_ptr<int64_t>(),
                     {x.mutable_data_ptr(), bytes(codes), bytes(constants)},
                     {nullptr, bytes(coefficient_codes), bytes(coefficient_constants)}, part.begin,
                     part.end);
    }
    return part.elements(x, begin, end);
  }

 private:
  /// beside: on the device that the basis has to be on.
  static LowRankRun run_of(const char* operation, const at::Tensor& basis, const LowRankForm& form,
                           kernels::ElementType type, int64_t count, const at::Tensor& beside,
                           const RandomStream& random) {
    const ChannelPlace& place = form.place;
    check_device(operation, "basis", basis, beside.device().type());
    TORCH_CHECK_VALUE(place.channels > 0 && place.inner > 0, operation, ": channels and inner are ",
                      place.channels, " and ", place.inner, ", accepted: above 0");
    const int64_t stride = basis_stride(place.channels);
    TORCH_CHECK_VALUE(
        basis.scalar_type() == at::kFloat8_e4m3fn && basis.dim() == 2 && basis.is_contiguous() &&
            basis.size(0) >= 1 && basis.size(0) <= kMostDirections && basis.size(1) == stride,
        operation, ": basis is ", basis.toString(), " ", basis.sizes(),
        ", accepted: float8_e4m3fn [1 to ", kMostDirections, ", ", stride, "], contiguous");
    TORCH_CHECK_VALUE(form.coefficient_bits >= 1 && form.coefficient_bits <= 8, operation,
                      ": coefficient_bits is ", form.coefficient_bits, ", accepted: 1 to 8");
    TORCH_CHECK_VALUE(count % place.block() == 0, operation, ": of ", count,
                      " elements, accepted: multiples of channels * inner, ", place.block());
    LowRankRun run{rotated_format(type, form.rest, count, random.offset),
                   {},
                   place,
                   static_cast<int>(basis.size(0)),
                   stride,
                   static_cast<const uint8_t*>(basis.const_data_ptr())};
    run.of_coefficients =
        rotated_format(kernels::ElementType::f32, form.coefficients(),
                       run.coefficients(count / place.block()), for_coefficients(random).offset);
    return run;
  }
};

}  // namespace fewbit::ops

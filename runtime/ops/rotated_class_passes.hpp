#pragma once

#include <tuple>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/Exception.h>

#include "kernels/quantizer/class_maps.hpp"
#include "ops/rotated_arguments.hpp"
#include "ops/rotated_passes.hpp"
#include "ops/tensor_arguments.hpp"

// The operations of ops/rotated_by_class.hpp as every device runs them: arguments checked, results
// allocated, and a device's passes between.

namespace fewbit::ops {

inline constexpr const char* kClassMaps = "fewbit::class_maps";
inline constexpr const char* kRotatedClassEncode = "fewbit::rotated_class_encode";
inline constexpr const char* kRotatedClassDecode = "fewbit::rotated_class_decode";

/// Classes of elements and their map, in the memory of the device.
struct ClassMemory {
  const uint8_t* codes;
  int bits;
  const float* map;
  int classes;
};

/// `Device` has kType and the static functions, with the seed in the device's memory,
///   maps(operation, ClassMapsFormat, x, codes, there, back)
///   encode(operation, RotatedFormat, seed, ClassMemory, RotatedEncodeMemory)
///   decode(operation, RotatedFormat, seed, ClassMemory, RotatedDecodeMemory)
template <class Device>
struct RotatedClassOperations {
  static std::tuple<at::Tensor, at::Tensor> maps(const at::Tensor& x, const at::Tensor& classes,
                                                 int64_t class_bits, int64_t count, int64_t zero) {
    check_device(kClassMaps, "x", x, Device::kType);
    const kernels::ElementType type = type_of(kClassMaps, x.scalar_type());
    check_classes(kClassMaps, classes, x.numel(), class_bits, x);
    TORCH_CHECK_VALUE(count >= 0 && count <= kernels::kMostClasses, kClassMaps, ": count is ",
                      count, ", accepted: 0 to ", kernels::kMostClasses);
    TORCH_CHECK_VALUE(x.is_contiguous(), kClassMaps, ": x is not contiguous");
    const c10::DeviceGuard guard(x.device());
    const auto options = x.options().dtype(at::kFloat);
    at::Tensor there = at::empty({2, count}, options), back = at::empty({2, count}, options);
    Device::maps(kClassMaps,
                 {type, x.numel(), static_cast<int>(class_bits), static_cast<int>(count),
                  static_cast<int>(zero)},
                 x.const_data_ptr(), classes.const_data_ptr<uint8_t>(),
                 there.mutable_data_ptr<float>(), back.mutable_data_ptr<float>());
    return {there, back};
  }

  static std::tuple<at::Tensor, at::Tensor> encode(const at::Tensor& x, const at::Tensor& classes,
                                                   int64_t class_bits, const at::Tensor& map,
                                                   int64_t bits, int64_t group, int64_t states,
                                                   const at::Tensor& seed, int64_t offset) {
    check_device(kRotatedClassEncode, "x", x, Device::kType);
    const RotatedCodes form{bits, group, states};
    type_of(kRotatedClassEncode, x.scalar_type());
    const kernels::ElementType type = check_rotated_encoding(x, form, seed);
    check_classes(kRotatedClassEncode, classes, x.numel(), class_bits, x);
    const ClassMemory memory = memory_of(kRotatedClassEncode, classes, class_bits, map, x);
    TORCH_CHECK_VALUE(x.is_contiguous(), kRotatedClassEncode, ": x is not contiguous");
    const c10::DeviceGuard guard(x.device());
    auto [codes, constants] = empty_rotated(x.numel(), form, type, x.options());
    Device::encode(kRotatedClassEncode, rotated_format(type, form, x.numel(), offset),
                   seed.const_data_ptr<int64_t>(), memory,
                   {x.const_data_ptr(), codes.template mutable_data_ptr<uint8_t>(),
                    static_cast<uint8_t*>(constants.mutable_data_ptr())});
    return {codes, constants};
  }

  static at::Tensor decode(const at::Tensor& codes, const at::Tensor& constants, int64_t count,
                           const at::Tensor& classes, int64_t class_bits, const at::Tensor& map,
                           int64_t bits, int64_t group, int64_t states, at::ScalarType dtype,
                           const at::Tensor& seed, int64_t offset, int64_t first) {
    check_device(kRotatedClassDecode, "codes", codes, Device::kType);
    const RotatedCodes form{bits, group, states};
    type_of(kRotatedClassDecode, dtype);
    const kernels::ElementType type =
        check_rotated_decoding(codes, constants, count, form, dtype, seed);
    check_classes(kRotatedClassDecode, classes, count, class_bits, codes);
    const ClassMemory memory = memory_of(kRotatedClassDecode, classes, class_bits, map, codes);
    const c10::DeviceGuard guard(codes.device());
    at::Tensor x = at::empty({count}, codes.options().dtype(dtype));
    Device::decode(kRotatedClassDecode,
                   part_of(kRotatedClassDecode, rotated_format(type, form, count, offset), first),
                   seed.const_data_ptr<int64_t>(), memory,
                   {x.mutable_data_ptr(), codes.const_data_ptr<uint8_t>(),
                    static_cast<const uint8_t*>(constants.const_data_ptr())});
    return x;
  }

 private:
  static kernels::ElementType type_of(const char* operation, at::ScalarType dtype) {
    TORCH_CHECK_TYPE(dtype != at::kDouble, operation, ": no double is accepted");
    return check_element_type(operation, dtype);
  }

  static void check_classes(const char* operation, const at::Tensor& classes, int64_t count,
                            int64_t class_bits, const at::Tensor& beside) {
    TORCH_CHECK_VALUE(class_bits >= 1 && class_bits <= 8, operation, ": class_bits is ", class_bits,
                      ", accepted: 1 to 8");
    check_device(operation, "classes", classes, beside.device().type());
    check_stream(operation, classes, count, static_cast<int>(class_bits));
  }

  static ClassMemory memory_of(const char* operation, const at::Tensor& classes, int64_t class_bits,
                               const at::Tensor& map, const at::Tensor& beside) {
    check_device(operation, "map", map, beside.device().type());
    TORCH_CHECK_VALUE(map.scalar_type() == at::kFloat && map.dim() == 2 && map.size(0) == 2 &&
                          map.size(1) <= kernels::kMostClasses && map.is_contiguous(),
                      operation, ": map is ", map.toString(), " ", map.sizes(),
                      ", accepted: float [2, classes], contiguous, of at most ",
                      kernels::kMostClasses, " classes");
    return {classes.const_data_ptr<uint8_t>(), static_cast<int>(class_bits),
            map.const_data_ptr<float>(), static_cast<int>(map.size(1))};
  }
};

}  // namespace fewbit::ops

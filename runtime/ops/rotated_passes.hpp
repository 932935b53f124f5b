#pragma once

#include <tuple>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>

#include "ops/layout.hpp"
#include "ops/rotated_arguments.hpp"
#include "ops/tensor_arguments.hpp"

// The operations as every device runs them: arguments checked, results allocated, and a device's
// passes between.

namespace fewbit::ops {

/// Where a pass finds its elements and what they are stored as, on the current device.
template <class Elements, class Bytes>
struct RotatedMemory {
  Elements* elements;
  Bytes* codes;
  Bytes* constants;
};
using RotatedEncodeMemory = RotatedMemory<const void, uint8_t>;
using RotatedDecodeMemory = RotatedMemory<void, const uint8_t>;

/// One of several tensors, by an offset of its own.
template <class Memory>
struct RotatedOfSeveral {
  int64_t count;
  int64_t offset;
  Memory at;
};

/// `Device` has kType and the static functions, with the seed in the device's memory,
///   encode(operation, RotatedFormat, seed, RotatedEncodeMemory)
///   decode(operation, RotatedFormat, seed, RotatedDecodeMemory)
/// and the same of a vector of RotatedOfSeveral, whose counts and offsets are the format's.
template <class Device>
struct RotatedOperations {
  static std::tuple<at::Tensor, at::Tensor> encode(const at::Tensor& x, int64_t bits, int64_t group,
                                                   int64_t states, const at::Tensor& seed,
                                                   int64_t offset) {
    check_device(kRotatedEncode, "x", x, Device::kType);
    const RotatedCodes form{bits, group, states};
    const kernels::ElementType type = check_rotated_encoding(x, form, seed);
    const c10::DeviceGuard guard(x.device());
    const at::Tensor in = dense(x);
    auto [codes, constants] = empty_rotated(in.numel(), form, type, in.options());
    Device::encode(kRotatedEncode, rotated_format(type, form, in.numel(), offset),
                   seed.const_data_ptr<int64_t>(),
                   {in.const_data_ptr(), codes.template mutable_data_ptr<uint8_t>(),
                    static_cast<uint8_t*>(constants.mutable_data_ptr())});
    return {codes, constants};
  }

  static at::Tensor decode(const at::Tensor& codes, const at::Tensor& constants, int64_t count,
                           int64_t bits, int64_t group, int64_t states, at::ScalarType dtype,
                           const at::Tensor& seed, int64_t offset, int64_t first) {
    check_device(kRotatedDecode, "codes", codes, Device::kType);
    const RotatedCodes form{bits, group, states};
    const kernels::ElementType type =
        check_rotated_decoding(codes, constants, count, form, dtype, seed);
    const c10::DeviceGuard guard(codes.device());
    at::Tensor x = at::empty({count}, codes.options().dtype(dtype));
    Device::decode(kRotatedDecode,
                   part_of(kRotatedDecode, rotated_format(type, form, count, offset), first),
                   seed.const_data_ptr<int64_t>(),
                   {x.mutable_data_ptr(), codes.const_data_ptr<uint8_t>(),
                    static_cast<const uint8_t*>(constants.const_data_ptr())});
    return x;
  }

  static void encode_together(at::TensorList xs, int64_t bits, int64_t group,
                              const at::Tensor& seed, at::IntArrayRef offsets, at::TensorList codes,
                              at::TensorList constants) {
    const RotatedCodes form{bits, group};
    const auto type = check_encoding_together(xs, form, seed, offsets, codes, constants);
    const c10::DeviceGuard guard(seed.device());
    std::vector<at::Tensor> dense_ones;  // which live until all are enqueued
    std::vector<RotatedOfSeveral<RotatedEncodeMemory>> several;
    for (size_t i = 0; i < xs.size(); ++i) {
      check_device(kEncodeTogether, "xs", xs[i], Device::kType);
      const at::Tensor& x = dense_ones.emplace_back(dense(xs[i]));
      several.push_back({x.numel(),
                         offsets[i],
                         {x.const_data_ptr(), codes[i].mutable_data_ptr<uint8_t>(),
                          static_cast<uint8_t*>(constants[i].mutable_data_ptr())}});
    }
    Device::encode(kEncodeTogether, rotated_format(type, form, 0, 0),
                   seed.const_data_ptr<int64_t>(), several);
  }

  static std::vector<at::Tensor> decode_together(at::TensorList codes, at::TensorList constants,
                                                 at::IntArrayRef counts, int64_t bits,
                                                 int64_t group, at::ScalarType dtype,
                                                 const at::Tensor& seed, at::IntArrayRef offsets) {
    const RotatedCodes form{bits, group};
    const auto type = check_decoding_together(codes, constants, counts, form, dtype, seed, offsets);
    const c10::DeviceGuard guard(seed.device());
    std::vector<at::Tensor> xs;
    std::vector<RotatedOfSeveral<RotatedDecodeMemory>> several;
    for (size_t i = 0; i < codes.size(); ++i) {
      check_device(kDecodeTogether, "codes", codes[i], Device::kType);
      const at::Tensor& x =
          xs.emplace_back(at::empty({counts[i]}, codes[i].options().dtype(dtype)));
      several.push_back({counts[i],
                         offsets[i],
                         {x.mutable_data_ptr(), codes[i].const_data_ptr<uint8_t>(),
                          static_cast<const uint8_t*>(constants[i].const_data_ptr())}});
    }
    Device::decode(kDecodeTogether, rotated_format(type, form, 0, 0),
                   seed.const_data_ptr<int64_t>(), several);
    return xs;
  }
};

}  // namespace fewbit::ops

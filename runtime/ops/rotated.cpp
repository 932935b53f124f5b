#include "ops/rotated.hpp"

#include <atomic>
#include <utility>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "ops/find.hpp"
#include "ops/layout.hpp"
#include "ops/ranges.hpp"
#include "ops/rotated_arguments.hpp"
#include "ops/rotated_passes.hpp"
#include "ops/tensor_arguments.hpp"

TORCH_LIBRARY_FRAGMENT(fewbit, m) {
  m.def(
      "rotated_encode(Tensor x, int bits, int group, int states, Tensor seed, int offset)"
      " -> (Tensor codes, Tensor constants)");
  m.def(
      "rotated_decode(Tensor codes, Tensor constants, SymInt count, int bits, int group, "
      "int states, ScalarType dtype, Tensor seed, int offset, SymInt first=0) -> Tensor");
  m.def(
      "rotated_encode_together(Tensor[] xs, int bits, int group, Tensor seed, int[] offsets,"
      " Tensor(a!)[] codes, Tensor(b!)[] constants) -> ()");
  m.def(
      "rotated_decode_together(Tensor[] codes, Tensor[] constants, int[] counts, int bits,"
      " int group, ScalarType dtype, Tensor seed, int[] offsets) -> Tensor[]");
  m.def("rotated_error(int bits, int states=0) -> float", [](int64_t bits, int64_t states) {
    const fewbit::ops::RotatedCodes form{bits, /*group=*/256, states};
    fewbit::ops::check_codes("fewbit::rotated_error", form);
    return fewbit::ops::rotated_error(form);
  });
}

namespace fewbit::ops {

namespace {

using Encode = std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, int64_t, int64_t, int64_t,
                                                  const at::Tensor&, int64_t);
using Decode = at::Tensor(const at::Tensor&, const at::Tensor&, c10::SymInt, int64_t, int64_t,
                          int64_t, at::ScalarType, const at::Tensor&, int64_t, c10::SymInt);
using EncodeTogether = void(at::TensorList, int64_t, int64_t, const at::Tensor&, at::IntArrayRef,
                            at::TensorList, at::TensorList);
using DecodeTogether = std::vector<at::Tensor>(at::TensorList, at::TensorList, at::IntArrayRef,
                                               int64_t, int64_t, at::ScalarType, const at::Tensor&,
                                               at::IntArrayRef);

/// `format` of one of several.
template <class Memory>
kernels::RotatedFormat own_format(kernels::RotatedFormat format,
                                  const RotatedOfSeveral<Memory>& one) {
  format.count = one.count;
  format.signs.offset = static_cast<uint64_t>(one.offset);
  return format;
}

struct RotatedCpu {
  static constexpr at::DeviceType kType = at::kCPU;

  static void encode(const char*, kernels::RotatedFormat format, const int64_t* seed,
                     const RotatedEncodeMemory& at) {
    has_suspects(format, seed, at);
  }

  /// The same, and whether there are suspects among the elements.
  static bool has_suspects(kernels::RotatedFormat format, const int64_t* seed,
                           const RotatedEncodeMemory& at) {
    format.signs.seed = static_cast<uint64_t>(*seed);
    std::atomic<bool> any = false;
    for_parts(format.groups(), kGrainElements / format.group, [&](int64_t begin, int64_t end) {
      kernels::RotatedFormat part = format;
      bool found = false;
      part.has_suspects = &found;
      kernels::rotated_encode(part, at.elements, at.codes, at.constants, {begin, end});
      if (found) any.store(true, std::memory_order_relaxed);
    });
    return any.load();
  }

  static void decode(const char*, kernels::RotatedFormat format, const int64_t* seed,
                     const RotatedDecodeMemory& at) {
    format.signs.seed = static_cast<uint64_t>(*seed);
    for_parts(format.groups(), kGrainElements / format.group, [&](int64_t begin, int64_t end) {
      kernels::rotated_decode(format, at.codes, at.constants, at.elements, {begin, end});
    });
  }

  static void encode(const char* operation, const kernels::RotatedFormat& format,
                     const int64_t* seed,
                     const std::vector<RotatedOfSeveral<RotatedEncodeMemory>>& several) {
    for (const auto& one : several) encode(operation, own_format(format, one), seed, one.at);
  }

  static void decode(const char* operation, const kernels::RotatedFormat& format,
                     const int64_t* seed,
                     const std::vector<RotatedOfSeveral<RotatedDecodeMemory>>& several) {
    for (const auto& one : several) decode(operation, own_format(format, one), seed, one.at);
  }
};

// Shapes without data, sizes symbolic.

std::tuple<at::Tensor, at::Tensor> encode_rotated_shapes(const at::Tensor& x, int64_t bits,
                                                         int64_t group, int64_t states,
                                                         const at::Tensor& seed, int64_t) {
  check_device(kRotatedEncode, "x", x, at::kMeta);
  const RotatedCodes form{bits, group, states};
  const kernels::ElementType type = check_rotated_encoding(x, form, seed);
  return empty_rotated(x.sym_numel(), form, type, x.options());
}

at::Tensor decode_rotated_shapes(const at::Tensor& codes, const at::Tensor& constants,
                                 c10::SymInt count, int64_t bits, int64_t group, int64_t states,
                                 at::ScalarType dtype, const at::Tensor& seed, int64_t,
                                 c10::SymInt /*first*/) {
  check_device(kRotatedDecode, "codes", codes, at::kMeta);
  check_rotated_decoding(codes, constants, count, {bits, group, states}, dtype, seed);
  return at::empty_symint({std::move(count)}, codes.options().dtype(dtype));
}

void encode_together_shapes(at::TensorList xs, int64_t bits, int64_t group, const at::Tensor& seed,
                            at::IntArrayRef offsets, at::TensorList codes,
                            at::TensorList constants) {
  check_encoding_together(xs, {bits, group}, seed, offsets, codes, constants);
}

std::vector<at::Tensor> decode_together_shapes(at::TensorList codes, at::TensorList constants,
                                               at::IntArrayRef counts, int64_t bits, int64_t group,
                                               at::ScalarType dtype, const at::Tensor& seed,
                                               at::IntArrayRef offsets) {
  check_decoding_together(codes, constants, counts, {bits, group}, dtype, seed, offsets);
  std::vector<at::Tensor> xs;
  for (size_t i = 0; i < codes.size(); ++i) {
    xs.push_back(at::empty({counts[i]}, codes[i].options().dtype(dtype)));
  }
  return xs;
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CPU, m) {
  m.impl("rotated_encode", RotatedOperations<RotatedCpu>::encode);
  m.impl("rotated_decode", RotatedOperations<RotatedCpu>::decode);
  m.impl("rotated_encode_together", RotatedOperations<RotatedCpu>::encode_together);
  m.impl("rotated_decode_together", RotatedOperations<RotatedCpu>::decode_together);
}

TORCH_LIBRARY_IMPL(fewbit, Meta, m) {
  m.impl("rotated_encode", encode_rotated_shapes);
  m.impl("rotated_decode", decode_rotated_shapes);
  m.impl("rotated_encode_together", encode_together_shapes);
  m.impl("rotated_decode_together", decode_together_shapes);
}

std::tuple<at::Tensor, at::Tensor> rotated_encode(const at::Tensor& x, const RotatedCodes& form,
                                                  const RandomStream& random) {
  static const auto operation = find<Encode>(kRotatedEncode);
  return operation.call(x, form.bits, form.group, form.states, random.seed, random.offset);
}

std::tuple<at::Tensor, at::Tensor> rotated_encode(const at::Tensor& x, const RotatedCodes& form,
                                                  const RandomStream& random, bool& has_suspects) {
  check_device(kRotatedEncode, "x", x, at::kCPU);
  const kernels::ElementType type = check_rotated_encoding(x, form, random.seed);
  const at::Tensor in = dense(x);
  auto [codes, constants] = empty_rotated(in.numel(), form, type, in.options());
  has_suspects = RotatedCpu::has_suspects(rotated_format(type, form, in.numel(), random.offset),
                                          random.seed.const_data_ptr<int64_t>(),
                                          {in.const_data_ptr(), codes.mutable_data_ptr<uint8_t>(),
                                           static_cast<uint8_t*>(constants.mutable_data_ptr())});
  return {codes, constants};
}

at::Tensor rotated_decode(const at::Tensor& codes, const at::Tensor& constants, int64_t count,
                          const RotatedCodes& form, at::ScalarType dtype,
                          const RandomStream& random, int64_t first) {
  static const auto operation = find<Decode>(kRotatedDecode);
  return operation.call(codes, constants, count, form.bits, form.group, form.states, dtype,
                        random.seed, random.offset, first);
}

std::tuple<at::Tensor, at::Tensor> empty_rotated_of(const at::Tensor& x, const RotatedCodes& form) {
  return empty_rotated(x.numel(), form, check_element_type(kEncodeTogether, x), x.options());
}

void rotated_encode_together(at::TensorList xs, const RotatedCodes& form, const at::Tensor& seed,
                             at::IntArrayRef offsets, at::TensorList codes,
                             at::TensorList constants) {
  static const auto operation = find<EncodeTogether>(kEncodeTogether);
  operation.call(xs, form.bits, form.group, seed, offsets, codes, constants);
}

std::vector<at::Tensor> rotated_decode_together(at::TensorList codes, at::TensorList constants,
                                                at::IntArrayRef counts, const RotatedCodes& form,
                                                at::ScalarType dtype, const at::Tensor& seed,
                                                at::IntArrayRef offsets) {
  static const auto operation = find<DecodeTogether>(kDecodeTogether);
  return operation.call(codes, constants, counts, form.bits, form.group, dtype, seed, offsets);
}

at::Tensor Part::of_codes(const at::Tensor& stream, int64_t bits, int64_t all) const {
  const int64_t from = begin / 8 * bits;
  return slice_of(stream, from, end == all ? stream.numel() : end / 8 * bits);
}

at::Tensor Part::of_constants(const at::Tensor& constants, int64_t group) const {
  return slice_of(constants, begin / group, (end + group - 1) / group);
}

at::Tensor Part::elements(const at::Tensor& part, int64_t from, int64_t to) const {
  return slice_of(part, from - begin, to - begin);
}

double rotated_error(const RotatedCodes& form) {
  return kernels::rotated_error(static_cast<int>(form.bits), static_cast<int>(form.states));
}

}  // namespace fewbit::ops

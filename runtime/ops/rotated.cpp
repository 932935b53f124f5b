#include "ops/rotated.hpp"

#include <utility>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "kernels/quantizer/rotated.hpp"
#include "ops/group_arguments.hpp"
#include "ops/layout.hpp"
#include "ops/ranges.hpp"
#include "ops/tensor_arguments.hpp"

TORCH_LIBRARY_FRAGMENT(fewbit, m) {
  m.def(
      "rotated_encode(Tensor x, int bits, int group, Tensor seed, int offset)"
      " -> (Tensor codes, Tensor constants)");
  m.def(
      "rotated_decode(Tensor codes, Tensor constants, SymInt count, int bits, int group, "
      "ScalarType dtype, Tensor seed, int offset) -> Tensor");
}

namespace fewbit::ops {

namespace {

constexpr const char* kEncode = "fewbit::rotated_encode";
constexpr const char* kDecode = "fewbit::rotated_decode";

using Encode = std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, int64_t, int64_t,
                                                  const at::Tensor&, int64_t);
using Decode = at::Tensor(const at::Tensor&, const at::Tensor&, c10::SymInt, int64_t, int64_t,
                          at::ScalarType, const at::Tensor&, int64_t);

/// Of so many elements, on the device of the options.
std::tuple<at::Tensor, at::Tensor> empty_codes(const c10::SymInt& count, int64_t bits,
                                               int64_t group, kernels::ElementType type,
                                               const at::TensorOptions& options) {
  const c10::SymInt groups = group_count(count, group);
  return {at::empty_symint({code_bytes(groups * group, static_cast<int>(bits))},
                           options.dtype(at::kByte)),
          at::empty_symint({groups, 2}, options.dtype(constants_type(type)))};
}

/// The type of the elements, all arguments of decoding checked.
kernels::ElementType check_decoding(const at::Tensor& codes, const at::Tensor& constants,
                                    const c10::SymInt& count, int64_t bits, int64_t group,
                                    at::ScalarType dtype, const at::Tensor& seed) {
  check_bits_and_group(kDecode, bits, group);
  check_seed(kDecode, seed, codes);
  check_count(kDecode, count);
  const kernels::ElementType type = check_element_type(kDecode, dtype);
  const c10::SymInt groups = group_count(count, group);
  check_stream(kDecode, codes, groups * group, static_cast<int>(bits));
  check_constants(kDecode, codes, constants, groups, type);
  return type;
}

/// The type of x's elements, all arguments of encoding checked.
kernels::ElementType check_encoding(const at::Tensor& x, int64_t bits, int64_t group,
                                    const at::Tensor& seed) {
  check_bits_and_group(kEncode, bits, group);
  check_seed(kEncode, seed, x);
  return check_element_type(kEncode, x);
}

kernels::RotatedFormat format_of(kernels::ElementType type, int64_t bits, int64_t group,
                                 int64_t count, const at::Tensor& seed, int64_t offset) {
  return {type,
          static_cast<int>(bits),
          group,
          count,
          {static_cast<uint64_t>(*seed.const_data_ptr<int64_t>()), static_cast<uint64_t>(offset)}};
}

std::tuple<at::Tensor, at::Tensor> encode_on_cpu(const at::Tensor& x, int64_t bits, int64_t group,
                                                 const at::Tensor& seed, int64_t offset) {
  check_device(kEncode, "x", x, at::kCPU);
  const kernels::ElementType type = check_encoding(x, bits, group, seed);
  const at::Tensor in = dense(x);
  auto [codes, constants] = empty_codes(in.numel(), bits, group, type, in.options());
  const auto format = format_of(type, bits, group, in.numel(), seed, offset);
  const void* from = in.const_data_ptr();
  auto* stream = codes.mutable_data_ptr<uint8_t>();
  void* kept = constants.mutable_data_ptr();
  for_parts(format.groups(), kGrainElements / group, [&](int64_t begin, int64_t end) {
    kernels::rotated_encode(format, from, stream, kept, {begin, end});
  });
  return {codes, constants};
}

at::Tensor decode_on_cpu(const at::Tensor& codes, const at::Tensor& constants, int64_t count,
                         int64_t bits, int64_t group, at::ScalarType dtype, const at::Tensor& seed,
                         int64_t offset) {
  check_device(kDecode, "codes", codes, at::kCPU);
  const kernels::ElementType type =
      check_decoding(codes, constants, count, bits, group, dtype, seed);
  at::Tensor x = at::empty({count}, codes.options().dtype(dtype));
  const auto format = format_of(type, bits, group, x.numel(), seed, offset);
  const auto* stream = codes.const_data_ptr<uint8_t>();
  const void* kept = constants.const_data_ptr();
  void* to = x.mutable_data_ptr();
  for_parts(format.groups(), kGrainElements / group, [&](int64_t begin, int64_t end) {
    kernels::rotated_decode(format, stream, kept, to, {begin, end});
  });
  return x;
}

std::tuple<at::Tensor, at::Tensor> encode_shapes(const at::Tensor& x, int64_t bits, int64_t group,
                                                 const at::Tensor& seed, int64_t) {
  check_device(kEncode, "x", x, at::kMeta);
  const kernels::ElementType type = check_encoding(x, bits, group, seed);
  return empty_codes(x.sym_numel(), bits, group, type, x.options());
}

at::Tensor decode_shapes(const at::Tensor& codes, const at::Tensor& constants, c10::SymInt count,
                         int64_t bits, int64_t group, at::ScalarType dtype, const at::Tensor& seed,
                         int64_t) {
  check_device(kDecode, "codes", codes, at::kMeta);
  check_decoding(codes, constants, count, bits, group, dtype, seed);
  return at::empty_symint({std::move(count)}, codes.options().dtype(dtype));
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CPU, m) {
  m.impl("rotated_encode", encode_on_cpu);
  m.impl("rotated_decode", decode_on_cpu);
}

TORCH_LIBRARY_IMPL(fewbit, Meta, m) {
  m.impl("rotated_encode", encode_shapes);
  m.impl("rotated_decode", decode_shapes);
}

std::tuple<at::Tensor, at::Tensor> rotated_encode(const at::Tensor& x, int64_t bits, int64_t group,
                                                  const RandomStream& random) {
  static const auto operation =
      c10::Dispatcher::singleton().findSchemaOrThrow(kEncode, "").typed<Encode>();
  return operation.call(x, bits, group, random.seed, random.offset);
}

at::Tensor rotated_decode(const at::Tensor& codes, const at::Tensor& constants, int64_t count,
                          int64_t bits, int64_t group, at::ScalarType dtype,
                          const RandomStream& random) {
  static const auto operation =
      c10::Dispatcher::singleton().findSchemaOrThrow(kDecode, "").typed<Decode>();
  return operation.call(codes, constants, count, bits, group, dtype, random.seed, random.offset);
}

double rotated_error(int64_t bits) {
  return kernels::rotated_error(static_cast<int>(bits));
}

}  // namespace fewbit::ops

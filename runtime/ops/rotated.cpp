#include "ops/rotated.hpp"

#include <utility>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include "kernels/quantizer/rotated.hpp"
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

void check_format(const char* operation, int64_t bits, int64_t group) {
  TORCH_CHECK(bits >= 1 && bits <= 8, operation, ": bits is ", bits, ", accepted: 1 to 8");
  TORCH_CHECK(group == 64 || group == 128 || group == 256 || group == 512 || group == 1024,
              operation, ": group is ", group, ", accepted: 64, 128, 256, 512, 1024");
}

at::ScalarType constants_type(at::ScalarType type) {
  return type == at::kDouble ? at::kDouble : at::kBFloat16;
}

/// Of so many elements; both tensors on the device of the options.
std::tuple<at::Tensor, at::Tensor> empty_codes(const c10::SymInt& count, int64_t bits,
                                               int64_t group, const at::TensorOptions& options,
                                               at::ScalarType type) {
  const c10::SymInt groups = (count + (group - 1)) / group;
  return {at::empty_symint({groups * (group / 8 * bits)}, options.dtype(at::kByte)),
          at::empty_symint({groups, 2}, options.dtype(constants_type(type)))};
}

void check_codes(const at::Tensor& codes, const at::Tensor& constants, const c10::SymInt& count,
                 int64_t bits, int64_t group, at::ScalarType type) {
  TORCH_CHECK(count >= 0, kDecode, ": count is ", count, ", accepted: 0 or more");
  const c10::SymInt groups = (count + (group - 1)) / group;
  const c10::SymInt bytes = groups * (group / 8 * bits);
  TORCH_CHECK(codes.scalar_type() == at::kByte && codes.dim() == 1 && codes.is_contiguous() &&
                  codes.sym_numel() == bytes,
              kDecode, ": codes is a ", codes.dim(), "-d tensor of ", codes.sym_numel(), " ",
              codes.scalar_type(), ", accepted: contiguous 1-d uint8 of ", bytes, ", which ", count,
              " elements of ", bits, " bits in groups of ", group, " take");
  TORCH_CHECK(constants.scalar_type() == constants_type(type) && constants.dim() == 2 &&
                  constants.is_contiguous() && constants.sym_size(0) == groups &&
                  constants.sym_size(1) == 2,
              kDecode, ": constants is ", constants.sym_sizes(), " of ", constants.scalar_type(),
              ", accepted: contiguous [", groups, ", 2] of ", constants_type(type));
  TORCH_CHECK(constants.device() == codes.device(), kDecode, ": constants is on ",
              constants.device(), ", but codes on ", codes.device());
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
  check_format(kEncode, bits, group);
  check_seed(kEncode, seed, x);
  const kernels::ElementType type = check_element_type(kEncode, x);
  const at::Tensor in = dense(x);
  auto [codes, constants] = empty_codes(in.numel(), bits, group, in.options(), in.scalar_type());
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
  check_format(kDecode, bits, group);
  check_seed(kDecode, seed, codes);
  check_codes(codes, constants, count, bits, group, dtype);
  at::Tensor x = at::empty({count}, codes.options().dtype(dtype));
  const kernels::ElementType type = check_element_type(kDecode, x);
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
  check_format(kEncode, bits, group);
  check_seed(kEncode, seed, x);
  check_element_type(kEncode, x);
  return empty_codes(x.sym_numel(), bits, group, x.options(), x.scalar_type());
}

at::Tensor decode_shapes(const at::Tensor& codes, const at::Tensor& constants, c10::SymInt count,
                         int64_t bits, int64_t group, at::ScalarType dtype, const at::Tensor& seed,
                         int64_t) {
  check_device(kDecode, "codes", codes, at::kMeta);
  check_format(kDecode, bits, group);
  check_seed(kDecode, seed, codes);
  check_codes(codes, constants, count, bits, group, dtype);
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

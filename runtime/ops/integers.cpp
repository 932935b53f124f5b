#include "ops/integers.hpp"

#include <atomic>
#include <utility>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "kernels/quantizer/integers.hpp"
#include "ops/find.hpp"
#include "ops/integer_arguments.hpp"
#include "ops/integer_passes.hpp"
#include "ops/ranges.hpp"
#include "ops/tensor_arguments.hpp"

TORCH_LIBRARY_FRAGMENT(fewbit, m) {
  m.def("integer_encode(Tensor x, int minimum, int bits) -> Tensor");
  m.def(
      "integer_decode(Tensor codes, SymInt count, int minimum, int bits, ScalarType dtype) "
      "-> Tensor");
  m.def("sign_encode(Tensor x) -> Tensor");
  m.def("sign_decode(Tensor codes, SymInt count, ScalarType dtype) -> Tensor");
}

namespace fewbit::ops {

namespace {

struct IntegersCpu {
  static constexpr at::DeviceType kType = at::kCPU;

  static void encode(const char* operation, const IntegerFormat& format, const void* x,
                     uint8_t* codes, int64_t count) {
    std::atomic<bool> fits = true;
    for_ranges(count, [&](const kernels::Range& range) {
      if (!kernels::integer_encode(format.type, x, format.minimum, format.bits, codes, range)) {
        fits = false;
      }
    });
    TORCH_CHECK(fits, operation, ": x has an element outside the 2^", format.bits, " from ",
                format.minimum, " on, accepted: only elements that `bits` bits can tell apart");
  }

  static void decode(const char*, const IntegerFormat& format, const uint8_t* codes, void* x,
                     int64_t count) {
    for_ranges(count, [&](const kernels::Range& range) {
      kernels::integer_decode(format.type, codes, format.minimum, format.bits, x, range);
    });
  }

  static void encode_mask(const char*, std::optional<kernels::ElementType> type, const void* x,
                          uint8_t* codes, int64_t count) {
    for_ranges(count, [&](const kernels::Range& range) {
      type ? kernels::sign_encode(*type, x, codes, range)
           : kernels::mask_encode(static_cast<const bool*>(x), codes, range);
    });
  }

  static void decode_mask(const char*, std::optional<kernels::ElementType> type,
                          const uint8_t* codes, void* x, int64_t count) {
    for_ranges(count, [&](const kernels::Range& range) {
      type ? kernels::sign_decode(*type, codes, x, range)
           : kernels::mask_decode(codes, static_cast<bool*>(x), range);
    });
  }
};

// Shapes without data, sizes symbolic.

at::Tensor encode_integer_shapes(const at::Tensor& x, int64_t minimum, int64_t bits) {
  const IntegerFormat format = check_integer_encoding(at::kMeta, x, minimum, bits);
  return empty_codes(x.sym_numel(), format.bits, x.options());
}

at::Tensor decode_integer_shapes(const at::Tensor& codes, c10::SymInt count, int64_t minimum,
                                 int64_t bits, at::ScalarType dtype) {
  check_integer_decoding(at::kMeta, codes, count, minimum, bits, dtype);
  return at::empty_symint({std::move(count)}, codes.options().dtype(dtype));
}

at::Tensor encode_mask_shapes(const at::Tensor& x) {
  check_sign_encoding(at::kMeta, x);
  return empty_codes(x.sym_numel(), 1, x.options());
}

at::Tensor decode_mask_shapes(const at::Tensor& codes, c10::SymInt count, at::ScalarType dtype) {
  check_sign_decoding(at::kMeta, codes, count, dtype);
  return at::empty_symint({std::move(count)}, codes.options().dtype(dtype));
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CPU, m) {
  m.impl("integer_encode", IntegerOperations<IntegersCpu>::encode);
  m.impl("integer_decode", IntegerOperations<IntegersCpu>::decode);
  m.impl("sign_encode", IntegerOperations<IntegersCpu>::encode_mask);
  m.impl("sign_decode", IntegerOperations<IntegersCpu>::decode_mask);
}

TORCH_LIBRARY_IMPL(fewbit, Meta, m) {
  m.impl("integer_encode", encode_integer_shapes);
  m.impl("integer_decode", decode_integer_shapes);
  m.impl("sign_encode", encode_mask_shapes);
  m.impl("sign_decode", decode_mask_shapes);
}

at::Tensor integer_encode(const at::Tensor& x, int64_t minimum, int64_t bits) {
  static const auto operation =
      find<at::Tensor(const at::Tensor&, int64_t, int64_t)>(kIntegerEncode);
  return operation.call(x, minimum, bits);
}

at::Tensor integer_decode(const at::Tensor& codes, c10::SymInt count, int64_t minimum, int64_t bits,
                          at::ScalarType dtype) {
  using Signature = at::Tensor(const at::Tensor&, c10::SymInt, int64_t, int64_t, at::ScalarType);
  static const auto operation = find<Signature>(kIntegerDecode);
  return operation.call(codes, std::move(count), minimum, bits, dtype);
}

at::Tensor sign_encode(const at::Tensor& x) {
  static const auto operation = find<at::Tensor(const at::Tensor&)>(kSignEncode);
  return operation.call(x);
}

at::Tensor sign_decode(const at::Tensor& codes, c10::SymInt count, at::ScalarType dtype) {
  static const auto operation =
      find<at::Tensor(const at::Tensor&, c10::SymInt, at::ScalarType)>(kSignDecode);
  return operation.call(codes, std::move(count), dtype);
}

int integer_bits(int64_t minimum, int64_t maximum) {
  return kernels::integer_bits(minimum, maximum);
}

}  // namespace fewbit::ops

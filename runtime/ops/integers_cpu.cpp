#include <atomic>

#include <torch/library.h>

#include "ops/integer_passes.hpp"
#include "ops/ranges.hpp"

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

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CPU, m) {
  m.impl("integer_encode", IntegerOperations<IntegersCpu>::encode);
  m.impl("integer_decode", IntegerOperations<IntegersCpu>::decode);
  m.impl("sign_encode", IntegerOperations<IntegersCpu>::encode_mask);
  m.impl("sign_decode", IntegerOperations<IntegersCpu>::decode_mask);
}

}  // namespace fewbit::ops

#include <torch/library.h>

#include "ops/ranges.hpp"
#include "ops/rotated_passes.hpp"

namespace fewbit::ops {

namespace {

struct RotatedCpu {
  static constexpr at::DeviceType kType = at::kCPU;

  static void encode(const char*, kernels::RotatedFormat format, const int64_t* seed,
                     const RotatedEncodeMemory& at) {
    format.signs.seed = static_cast<uint64_t>(*seed);
    for_parts(format.groups(), kGrainElements / format.group, [&](int64_t begin, int64_t end) {
      kernels::rotated_encode(format, at.elements, at.codes, at.constants, {begin, end});
    });
  }

  static void decode(const char*, kernels::RotatedFormat format, const int64_t* seed,
                     const RotatedDecodeMemory& at) {
    format.signs.seed = static_cast<uint64_t>(*seed);
    for_parts(format.groups(), kGrainElements / format.group, [&](int64_t begin, int64_t end) {
      kernels::rotated_decode(format, at.codes, at.constants, at.elements, {begin, end});
    });
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CPU, m) {
  m.impl("rotated_encode", RotatedOperations<RotatedCpu>::encode);
  m.impl("rotated_decode", RotatedOperations<RotatedCpu>::decode);
}

}  // namespace fewbit::ops

#include <torch/library.h>

#include "ops/group_passes.hpp"
#include "ops/ranges.hpp"

namespace fewbit::ops {

namespace {

struct GroupCpu {
  static constexpr at::DeviceType kType = at::kCPU;

  static void encode(const char*, kernels::GroupFormat format, const int64_t* seed,
                     const GroupEncodeMemory& at) {
    if (seed) format.random.seed = static_cast<uint64_t>(*seed);
    for_ranges(
        at.count,
        [&](const kernels::Range& range) {
          kernels::group_encode(format, at.elements, at.codes, at.constants, range);
        },
        kernels::encode_unit(format.group));
  }

  static void decode(const char*, kernels::GroupFormat format, const int64_t* seed,
                     const GroupDecodeMemory& at) {
    if (seed) format.random.seed = static_cast<uint64_t>(*seed);
    for_ranges(at.count, [&](const kernels::Range& range) {
      kernels::group_decode(format, at.codes, at.constants, at.elements, range);
    });
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CPU, m) {
  m.impl("group_encode", GroupOperations<GroupCpu>::encode);
  m.impl("group_decode", GroupOperations<GroupCpu>::decode);
}

}  // namespace fewbit::ops

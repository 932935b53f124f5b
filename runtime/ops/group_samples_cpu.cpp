#include <torch/library.h>

#include "kernels/quantizer/group_samples.hpp"
#include "ops/group_samples_passes.hpp"
#include "ops/ranges.hpp"

namespace fewbit::ops {

namespace {

struct SamplesCpu {
  static constexpr at::DeviceType kType = at::kCPU;

  static void check_bytes(const char* operation, const std::string& seen, int64_t bytes,
                          const at::Tensor& bits, int64_t count) {
    check_sample_bytes(operation, seen, bytes, bits, count);
  }

  static void encode(const char*, kernels::GroupFormat format, const int64_t* seed,
                     const SampleMemory<GroupEncodeMemory>& all) {
    if (seed) format.random.seed = static_cast<uint64_t>(*seed);
    for_sample_parts(format, all, [&](const kernels::Samples& samples, int64_t begin, int64_t end) {
      kernels::group_encode_samples(format, samples, all.at.elements, all.at.codes,
                                    all.at.constants, begin, end);
    });
  }

  static void decode(const char*, kernels::GroupFormat format, const int64_t* seed,
                     const SampleMemory<GroupDecodeMemory>& all) {
    if (seed) format.random.seed = static_cast<uint64_t>(*seed);
    for_sample_parts(format, all, [&](const kernels::Samples& samples, int64_t begin, int64_t end) {
      kernels::group_decode_samples(format, samples, all.at.codes, all.at.constants,
                                    all.at.elements, begin, end);
    });
  }

 private:
  /// On torch's threads, each as many elements as are worth one.
  template <class Memory, class Body>
  static void for_sample_parts(const kernels::GroupFormat& format, const SampleMemory<Memory>& all,
                               const Body& body) {
    if (all.at.count == 0) return;
    const std::vector<int64_t> offsets = kernels::code_offsets(all.bits, all.samples, all.at.count);
    const kernels::Samples samples{all.bits, offsets.data(), all.samples, all.at.count};
    const int64_t part = std::min(all.at.count, kernels::encode_unit(format.group));
    for_parts(kernels::part_count(samples, format.group), kGrainElements / part,
              [&](int64_t begin, int64_t end) { body(samples, begin, end); });
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CPU, m) {
  m.impl("group_encode_samples", SampleOperations<SamplesCpu>::encode);
  m.impl("group_decode_samples", SampleOperations<SamplesCpu>::decode);
}

}  // namespace fewbit::ops

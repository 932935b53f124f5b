#include "ops/group_samples.hpp"

#include <utility>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "kernels/quantizer/group_samples.hpp"
#include "ops/find.hpp"
#include "ops/group_samples_arguments.hpp"
#include "ops/group_samples_passes.hpp"
#include "ops/ranges.hpp"
#include "ops/tensor_arguments.hpp"

TORCH_LIBRARY_FRAGMENT(fewbit, m) {
  m.def(
      "group_encode_samples(Tensor x, Tensor bits, SymInt bytes, int group, str rounding, "
      "Tensor? seed=None, int offset=0) -> (Tensor codes, Tensor constants)");
  m.def(
      "group_decode_samples(Tensor codes, Tensor constants, Tensor bits, SymInt count, int group, "
      "str rounding, ScalarType dtype, Tensor? seed=None, int offset=0) -> Tensor");
}

namespace fewbit::ops {

namespace {

struct SamplesCpu {
  static constexpr at::DeviceType kType = at::kCPU;

  static constexpr auto offsets = check_sample_bytes;

  static void encode(const char*, kernels::GroupFormat format, const int64_t* seed,
                     const kernels::Samples& samples, const GroupEncodeMemory& at) {
    if (seed) format.random.seed = static_cast<uint64_t>(*seed);
    for_sample_parts(format, samples, [&](int64_t begin, int64_t end) {
      kernels::group_encode_samples(format, samples, at.elements, at.codes, at.constants, begin,
                                    end);
    });
  }

  static void decode(const char*, kernels::GroupFormat format, const int64_t* seed,
                     const kernels::Samples& samples, const GroupDecodeMemory& at) {
    if (seed) format.random.seed = static_cast<uint64_t>(*seed);
    for_sample_parts(format, samples, [&](int64_t begin, int64_t end) {
      kernels::group_decode_samples(format, samples, at.codes, at.constants, at.elements, begin,
                                    end);
    });
  }

 private:
  /// On torch's threads, each as many elements as are worth one.
  template <class Body>
  static void for_sample_parts(const kernels::GroupFormat& format, const kernels::Samples& samples,
                               const Body& body) {
    if (samples.count == 0) return;
    const int64_t part = std::min(samples.count, kernels::encode_unit(format.group));
    for_parts(kernels::part_count(samples, format.group), kGrainElements / part, body);
  }
};

// Shapes without data, sizes symbolic.

std::tuple<at::Tensor, at::Tensor> encode_sample_shapes(const at::Tensor& x, const at::Tensor& bits,
                                                        c10::SymInt bytes, int64_t group,
                                                        c10::string_view rounding,
                                                        const std::optional<at::Tensor>& seed,
                                                        int64_t offset) {
  const auto [format, count] =
      check_sample_encoding(at::kMeta, x, bits, group, rounding, seed, offset);
  return {at::empty_symint({std::move(bytes)}, x.options().dtype(at::kByte)),
          empty_constants(sample_group_count(bits, count, group), format.type, x.options())};
}

at::Tensor decode_sample_shapes(const at::Tensor& codes, const at::Tensor& constants,
                                const at::Tensor& bits, c10::SymInt count, int64_t group,
                                c10::string_view rounding, at::ScalarType dtype,
                                const std::optional<at::Tensor>& seed, int64_t offset) {
  check_sample_decoding(at::kMeta, codes, constants, bits, count, group, rounding, dtype, seed,
                        offset);
  return at::empty_symint({bits.sym_numel(), std::move(count)}, codes.options().dtype(dtype));
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CPU, m) {
  m.impl("group_encode_samples", SampleOperations<SamplesCpu>::encode);
  m.impl("group_decode_samples", SampleOperations<SamplesCpu>::decode);
}

TORCH_LIBRARY_IMPL(fewbit, Meta, m) {
  m.impl("group_encode_samples", encode_sample_shapes);
  m.impl("group_decode_samples", decode_sample_shapes);
}

std::tuple<at::Tensor, at::Tensor> group_encode_samples(const at::Tensor& x, const at::Tensor& bits,
                                                        c10::SymInt bytes, int64_t group,
                                                        c10::string_view rounding,
                                                        const std::optional<at::Tensor>& seed,
                                                        int64_t offset) {
  using Signature = std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&,
                                                       c10::SymInt, int64_t, c10::string_view,
                                                       const std::optional<at::Tensor>&, int64_t);
  static const auto operation = find<Signature>(kSamplesEncode);
  return operation.call(x, bits, std::move(bytes), group, rounding, seed, offset);
}

at::Tensor group_decode_samples(const at::Tensor& codes, const at::Tensor& constants,
                                const at::Tensor& bits, c10::SymInt count, int64_t group,
                                c10::string_view rounding, at::ScalarType dtype,
                                const std::optional<at::Tensor>& seed, int64_t offset) {
  using Signature =
      at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, c10::SymInt, int64_t,
                 c10::string_view, at::ScalarType, const std::optional<at::Tensor>&, int64_t);
  static const auto operation = find<Signature>(kSamplesDecode);
  return operation.call(codes, constants, bits, std::move(count), group, rounding, dtype, seed,
                        offset);
}

int64_t group_sample_bytes(const at::Tensor& bits, int64_t count) {
  constexpr const char* kName = "fewbit::group_sample_bytes";
  check_device(kName, "bits", bits, at::kCPU);
  check_sample_bits(kName, bits, bits);
  return sample_offsets(kName, bits, count).back();
}

bool has_samples_in_order(const at::Tensor& x) {
  return x.dim() > 0 && (x.size(0) <= 1 || x.numel() == 0 || x.stride(0) == x.numel() / x.size(0));
}

}  // namespace fewbit::ops

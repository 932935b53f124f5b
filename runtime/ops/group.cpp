#include "ops/group.hpp"

#include <utility>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "ops/find.hpp"
#include "ops/group_arguments.hpp"
#include "ops/group_passes.hpp"
#include "ops/ranges.hpp"
#include "ops/tensor_arguments.hpp"

TORCH_LIBRARY_FRAGMENT(fewbit, m) {
  m.def(
      "group_encode(Tensor x, int bits, int group, str rounding, Tensor? seed=None, int offset=0) "
      "-> (Tensor codes, Tensor constants)");
  m.def(
      "group_decode(Tensor codes, Tensor constants, SymInt count, int bits, int group, "
      "str rounding, ScalarType dtype, Tensor? seed=None, int offset=0) -> Tensor");
}

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

// Shapes without data, sizes symbolic.

std::tuple<at::Tensor, at::Tensor> encode_group_shapes(const at::Tensor& x, int64_t bits,
                                                       int64_t group, c10::string_view rounding,
                                                       const std::optional<at::Tensor>& seed,
                                                       int64_t offset) {
  const kernels::GroupFormat format =
      check_group_encoding(at::kMeta, x, {bits, group, rounding, seed, offset});
  const c10::SymInt count = x.sym_numel();
  return {empty_codes(count, format.bits, x.options()),
          empty_constants(group_count(count, group), format.type, x.options())};
}

at::Tensor decode_group_shapes(const at::Tensor& codes, const at::Tensor& constants,
                               c10::SymInt count, int64_t bits, int64_t group,
                               c10::string_view rounding, at::ScalarType dtype,
                               const std::optional<at::Tensor>& seed, int64_t offset) {
  check_group_decoding(at::kMeta, codes, constants, count, {bits, group, rounding, seed, offset},
                       dtype);
  return at::empty_symint({std::move(count)}, codes.options().dtype(dtype));
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CPU, m) {
  m.impl("group_encode", GroupOperations<GroupCpu>::encode);
  m.impl("group_decode", GroupOperations<GroupCpu>::decode);
}

TORCH_LIBRARY_IMPL(fewbit, Meta, m) {
  m.impl("group_encode", encode_group_shapes);
  m.impl("group_decode", decode_group_shapes);
}

std::tuple<at::Tensor, at::Tensor> group_encode(const at::Tensor& x, int64_t bits, int64_t group,
                                                c10::string_view rounding,
                                                const std::optional<at::Tensor>& seed,
                                                int64_t offset) {
  using Signature =
      std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, int64_t, int64_t, c10::string_view,
                                         const std::optional<at::Tensor>&, int64_t);
  static const auto operation = find<Signature>(kGroupEncode);
  return operation.call(x, bits, group, rounding, seed, offset);
}

at::Tensor group_decode(const at::Tensor& codes, const at::Tensor& constants, c10::SymInt count,
                        int64_t bits, int64_t group, c10::string_view rounding,
                        at::ScalarType dtype, const std::optional<at::Tensor>& seed,
                        int64_t offset) {
  using Signature =
      at::Tensor(const at::Tensor&, const at::Tensor&, c10::SymInt, int64_t, int64_t,
                 c10::string_view, at::ScalarType, const std::optional<at::Tensor>&, int64_t);
  static const auto operation = find<Signature>(kGroupDecode);
  return operation.call(codes, constants, std::move(count), bits, group, rounding, dtype, seed,
                        offset);
}

}  // namespace fewbit::ops

#include "ops/group.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

TORCH_LIBRARY_FRAGMENT(fewbit, m) {
  m.def(
      "group_encode(Tensor x, int bits, int group, str rounding, Tensor? seed=None, int offset=0) "
      "-> (Tensor codes, Tensor constants)");
  m.def(
      "group_decode(Tensor codes, Tensor constants, SymInt count, int bits, int group, "
      "str rounding, ScalarType dtype, Tensor? seed=None, int offset=0) -> Tensor");
}

namespace fewbit::ops {

std::tuple<at::Tensor, at::Tensor> group_encode(const at::Tensor& x, int64_t bits, int64_t group,
                                                c10::string_view rounding,
                                                const std::optional<at::Tensor>& seed,
                                                int64_t offset) {
  using Signature =
      std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, int64_t, int64_t, c10::string_view,
                                         const std::optional<at::Tensor>&, int64_t);
  static const auto operation =
      c10::Dispatcher::singleton().findSchemaOrThrow("fewbit::group_encode", "").typed<Signature>();
  return operation.call(x, bits, group, rounding, seed, offset);
}

at::Tensor group_decode(const at::Tensor& codes, const at::Tensor& constants, c10::SymInt count,
                        int64_t bits, int64_t group, c10::string_view rounding,
                        at::ScalarType dtype, const std::optional<at::Tensor>& seed,
                        int64_t offset) {
  using Signature =
      at::Tensor(const at::Tensor&, const at::Tensor&, c10::SymInt, int64_t, int64_t,
                 c10::string_view, at::ScalarType, const std::optional<at::Tensor>&, int64_t);
  static const auto operation =
      c10::Dispatcher::singleton().findSchemaOrThrow("fewbit::group_decode", "").typed<Signature>();
  return operation.call(codes, constants, std::move(count), bits, group, rounding, dtype, seed,
                        offset);
}

}  // namespace fewbit::ops

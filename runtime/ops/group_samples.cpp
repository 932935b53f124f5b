#include "ops/group_samples.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "ops/group_samples_arguments.hpp"
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

std::tuple<at::Tensor, at::Tensor> group_encode_samples(const at::Tensor& x, const at::Tensor& bits,
                                                        c10::SymInt bytes, int64_t group,
                                                        c10::string_view rounding,
                                                        const std::optional<at::Tensor>& seed,
                                                        int64_t offset) {
  using Signature = std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&,
                                                       c10::SymInt, int64_t, c10::string_view,
                                                       const std::optional<at::Tensor>&, int64_t);
  static const auto operation = c10::Dispatcher::singleton()
                                    .findSchemaOrThrow("fewbit::group_encode_samples", "")
                                    .typed<Signature>();
  return operation.call(x, bits, std::move(bytes), group, rounding, seed, offset);
}

at::Tensor group_decode_samples(const at::Tensor& codes, const at::Tensor& constants,
                                const at::Tensor& bits, c10::SymInt count, int64_t group,
                                c10::string_view rounding, at::ScalarType dtype,
                                const std::optional<at::Tensor>& seed, int64_t offset) {
  using Signature =
      at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, c10::SymInt, int64_t,
                 c10::string_view, at::ScalarType, const std::optional<at::Tensor>&, int64_t);
  static const auto operation = c10::Dispatcher::singleton()
                                    .findSchemaOrThrow("fewbit::group_decode_samples", "")
                                    .typed<Signature>();
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

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "codecs/codec.hpp"

namespace fewbit::codecs {

std::optional<int64_t> bytes_ahead(const Codec& codec, const at::Tensor& x) {
  const at::Tensor seed = at::empty({1}, at::TensorOptions(at::kMeta).dtype(at::kLong));
  const auto encoded = codec.encode(at::empty_like(x, x.options().device(at::kMeta)), {seed, 0});
  if (!encoded) return std::nullopt;
  int64_t bytes = 0;
  for (const at::Tensor& tensor : encoded->tensors()) {
    bytes += static_cast<int64_t>(tensor.nbytes());
  }
  return bytes;
}

}  // namespace fewbit::codecs

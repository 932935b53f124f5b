#pragma once

#include <ATen/ATen.h>

#include "codecs/codec.hpp"

namespace fewbit::codecs {

inline RandomStream random_of(int64_t seed, int64_t offset = 0) {
  return {at::full({1}, seed, at::kLong), offset};
}

/// The elements of a dense tensor in the order of memory.
inline at::Tensor run_of(const at::Tensor& x) {
  return x.as_strided({x.numel()}, {1});
}

inline at::Tensor coded(const CodecPointer& codec, const at::Tensor& x) {
  return codec->encode(x, random_of(1))->decoded();
}

/// Squared, over the energy, the mean of eight draws.
inline double error_of(const CodecPointer& codec, const at::Tensor& x) {
  const at::Tensor exact = run_of(x).to(at::kDouble);
  double sum = 0.0;
  for (int64_t draw = 0; draw < 8; ++draw) {
    const at::Tensor back = codec->encode(x, random_of(7, draw))->decoded().to(at::kDouble);
    sum += ((back - exact).square().sum() / exact.square().sum()).item().toDouble() / 8.0;
  }
  return sum;
}

/// The same elements, NaN and the signs of zeros too.
inline bool is_same(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
         at::allclose(a, b, 0.0, 0.0, /*equal_nan=*/true) &&
         (a.signbit() == b.signbit()).logical_or(a.isnan()).all().item().toBool();
}

inline int64_t bytes_of(const Encoded& encoded) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : encoded.tensors()) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

}  // namespace fewbit::codecs

#include "ops/projections.hpp"

#include <cmath>
#include <numbers>

#include <ATen/ops/arange.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/view_as_real.h>

#include "ops/random_words.hpp"

namespace fewbit::ops {

namespace {

constexpr int64_t kBlock = 512;

// Offsets of the streams of random numbers.
constexpr int64_t kMatrix = 0, kSigns = 1, kPicks = 2;

/// +scale or -scale each.
at::Tensor signs(const at::Tensor& seed, int64_t offset, int64_t count, double scale,
                 at::ScalarType type) {
  return random_bits(seed, offset, count).to(type).mul_(2.0 * scale).sub_(scale);
}

/// [blocks, rows of each, rows of x in each].
at::Tensor dense_matrix(at::IntArrayRef shape, Projection projection, const at::Tensor& seed,
                        at::ScalarType type) {
  const int64_t count = shape[0] * shape[1] * shape[2];
  const double scale = 1.0 / std::sqrt(static_cast<double>(shape[1]));
  if (projection == Projection::rademacher) {
    return signs(seed, kMatrix, count, scale, type).view(shape);
  }
  return random_normals(seed, kMatrix, count).to(type).mul_(scale).view(shape);
}

at::Tensor dense(const at::Tensor& x, int64_t rows, Projection projection, const at::Tensor& seed) {
  const int64_t blocks = block_count(x.size(0), projection), width = x.size(1);
  const int64_t height = (x.size(0) + blocks - 1) / blocks;
  // Rows of zeros add nothing to any sum.
  const at::Tensor padded = at::constant_pad_nd(x, {0, 0, 0, blocks * height - x.size(0)});
  const at::Tensor s =
      dense_matrix({blocks, rows / blocks, height}, projection, seed, x.scalar_type());
  return at::bmm(s, padded.reshape({blocks, height, width})).view({rows, width});
}

/// `rows` of the orthonormal cosine transform II of the columns, those of `picks`: its k-th row is
/// the real part of exp(-i pi k / 2R) V_k, where V is the Fourier transform of the rows 0, 2, 4,
/// ... followed by the odd ones backwards, and V_(R-k) the conjugate of V_k (Makhoul, A fast cosine
/// transform in one and two dimensions, 1980).
at::Tensor cosine_rows(const at::Tensor& x, const at::Tensor& picks) {
  const int64_t count = x.size(0);
  const at::Tensor odd = x.slice(0, 1, std::nullopt, 2).flip(0);
  const at::Tensor spectrum =
      at::fft_rfft(at::cat({x.slice(0, 0, std::nullopt, 2), odd}), std::nullopt, 0);
  const at::Tensor is_in_half = picks.mul(2).le(count);
  const at::Tensor places = at::minimum(picks, picks.neg().add_(count));
  const at::Tensor found = at::view_as_real(spectrum).index_select(0, places);
  const at::Tensor angle =
      picks.to(at::kDouble).mul_(std::numbers::pi / (2.0 * static_cast<double>(count)));
  const at::Tensor factor =
      picks.gt(0).to(at::kDouble).add_(1.0).div_(static_cast<double>(count)).sqrt_();
  const auto column = [&](const at::Tensor& values) {
    return values.mul(factor).to(x.scalar_type()).unsqueeze(1);
  };
  const at::Tensor conjugate = is_in_half.to(at::kDouble).mul_(2.0).sub_(1.0);
  return found.select(2, 0)
      .mul(column(angle.cos()))
      .add_(found.select(2, 1).mul(column(angle.sin().mul_(conjugate))));
}

}  // namespace

int64_t block_count(int64_t rows, Projection projection) {
  const bool is_dense = projection == Projection::gaussian || projection == Projection::rademacher;
  return is_dense && rows > kBlock ? (rows + kBlock - 1) / kBlock : 1;
}

at::Tensor projected(const at::Tensor& x, int64_t rows, Projection projection,
                     const at::Tensor& seed) {
  if (projection == Projection::gaussian || projection == Projection::rademacher) {
    return dense(x, rows, projection, seed);
  }
  const int64_t count = x.size(0);
  const at::Tensor picks = random_integers(seed, kPicks, count, rows);
  const double scale = std::sqrt(static_cast<double>(count) / static_cast<double>(rows));
  if (projection == Projection::rows) return x.index_select(0, picks).mul_(scale);
  // Without signs all of a mean would lie in one row.
  const at::Tensor mixed = x.mul(signs(seed, kSigns, count, 1.0, x.scalar_type()).unsqueeze(1));
  return cosine_rows(mixed, picks).mul_(scale);
}

}  // namespace fewbit::ops

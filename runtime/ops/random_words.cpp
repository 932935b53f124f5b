#include "ops/random_words.hpp"

#include <array>
#include <numbers>

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>

namespace fewbit::ops {

namespace {

constexpr int64_t kWord = 0xffffffff;

at::Tensor low(const at::Tensor& x) {
  return x.bitwise_and(kWord);
}

/// Shifts of int64 extend the sign, which the mask clears; products wrap.
at::Tensor high(const at::Tensor& x) {
  return x.bitwise_right_shift(32).bitwise_and_(kWord);
}

int64_t divided_up(int64_t x, int64_t by) {
  return (x + by - 1) / by;
}

}  // namespace

at::Tensor random_words(const at::Tensor& seed, int64_t offset, int64_t count) {
  const at::Tensor index = at::arange(divided_up(count, 4), seed.options());
  const at::Tensor upper = at::full({1}, offset, seed.options());
  std::array<at::Tensor, 4> words = {low(index), high(index), low(upper), high(upper)};
  at::Tensor key0 = low(seed), key1 = high(seed);
  for (int round = 0; round < 10; ++round) {
    const at::Tensor product0 = words[0].mul(int64_t{0xD2511F53});
    const at::Tensor product1 = words[2].mul(int64_t{0xCD9E8D57});
    words = {words[1].bitwise_xor(key0).bitwise_xor(high(product1)), low(product1),
             words[3].bitwise_xor(key1).bitwise_xor(high(product0)), low(product0)};
    key0 = low(key0.add(int64_t{0x9E3779B9}));
    key1 = low(key1.add(int64_t{0xBB67AE85}));
  }
  return at::stack(words, 1).view(-1).narrow(0, 0, count);
}

at::Tensor random_bits(const at::Tensor& seed, int64_t offset, int64_t count) {
  const at::Tensor words = random_words(seed, offset, divided_up(count, 32)).to(at::kInt);
  const at::Tensor places = at::arange(32, words.options());
  const at::Tensor bits = words.unsqueeze(1).bitwise_right_shift(places).bitwise_and_(1);
  return bits.view(-1).narrow(0, 0, count);
}

at::Tensor random_normals(const at::Tensor& seed, int64_t offset, int64_t count) {
  const int64_t pairs = divided_up(count, 2);
  const at::Tensor words = random_words(seed, offset, 2 * pairs).view({pairs, 2});
  // In the middle of their interval, so that no logarithm is of 0.
  const at::Tensor uniform = words.to(at::kFloat).add_(0.5).mul_(0x1p-32);
  const at::Tensor length = uniform.select(1, 0).log().mul_(-2.0).sqrt_();
  const at::Tensor angle = uniform.select(1, 1).mul(2.0 * std::numbers::pi);
  const at::Tensor normals = at::stack({angle.cos().mul_(length), angle.sin().mul_(length)}, 1);
  return normals.view(-1).narrow(0, 0, count);
}

at::Tensor random_integers(const at::Tensor& seed, int64_t offset, int64_t below, int64_t count) {
  return random_words(seed, offset, count).mul(below).bitwise_right_shift(32);
}

}  // namespace fewbit::ops

// Linked with -ffast-math, which makes every thread flush subnormals: what the runtime fits and
// tabulates on first use must not notice.
#include <cstdint>
#include <iostream>

#include <ATen/ATen.h>
#include <fewbit/fewbit.hpp>

namespace {

/// Bits, which arithmetic of this program cannot touch.
bool are_same_bits(const at::Tensor& a, const at::Tensor& b) {
  return at::equal(a.view(at::kShort), b.view(at::kShort));
}

}  // namespace

int main() {
  // All subnormal numbers of half, and their gradients.
  const at::Tensor x = at::arange(1, 1024, at::kShort).view(at::kHalf).requires_grad_();
  const at::Tensor y = fewbit::relu(x);
  y.backward(at::ones_like(y));
  const bool relu = are_same_bits(y, x) && at::all(x.grad() == 1).item<bool>();
  // Half of x, to the nearest number: sigmoid(x) is 1/2 there.
  const at::Tensor halved = fewbit::silu(x.detach(), fewbit::Bits{3}).view(at::kShort);
  const at::Tensor off = halved.to(at::kInt) * 2 - at::arange(1, 1024, at::kInt);
  const bool silu = at::all(off.abs() <= 1).item<bool>();
  const at::Tensor floats = fewbit::leaky_relu(at::full({4}, -2.0), 0.5);
  const bool leaky = at::all(floats == -1).item<bool>();
  std::cout << "fast_math: " << (relu && silu && leaky ? "holds" : "FAILED") << '\n';
  return relu && silu && leaky ? 0 : 1;
}

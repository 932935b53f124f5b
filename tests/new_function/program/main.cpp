// A function that the registry did not have a moment ago, as a libtorch user finds it.

#include <cstdio>
#include <sstream>

#include <ATen/ATen.h>

#include "fewbit/activation_scope.hpp"
#include "fewbit/functional.hpp"
#include "fewbit/nn/modules.hpp"

namespace {

bool check(bool holds, const char* what) {
  std::printf("%s: %s\n", holds ? "found" : "MISSING", what);
  return holds;
}

/// Root mean square of the gradient's error.
double error_of(const at::Tensor& y, const at::Tensor& x, const at::Tensor& slope) {
  y.sum().backward();
  return (x.grad() - slope).square().mean().sqrt().item<double>();
}

}  // namespace

int main() {
  using fewbit::Bits;
  using fewbit::Table;
  at::manual_seed(1);
  const at::Tensor x = at::randn({4096}).requires_grad_();
  const at::Tensor slope = 1.0 / (1.0 + x.detach().square());

  bool holds =
      check(Table::builtin("arctangent", "levels_normal_b3").bits() == 3, "built-in table");
  holds &= check(Table::standard("arctangent", Bits{3}).name() == "smoothed_normal_b3",
                 "default table, without solving");

  const at::Tensor y = fewbit::atan(x, Bits{4});
  holds &= check(at::allclose(y, at::atan(x), 2e-6, 2e-6), "function and its kernels");
  holds &= check(error_of(y, x, slope) < 0.04, "gradient");

  std::ostringstream printed;
  printed << fewbit::nn::Arctangent(fewbit::nn::ArctangentOptions().bits(2));
  holds &=
      check(printed.str() == "fewbit::nn::Arctangent(bits=2, table=smoothed_normal_b2)", "module");

  const fewbit::ActivationScope scope({.bits = 2});
  at::atan(x);
  holds &= check(scope.entries().size() == 1 && scope.entries()[0].function == "arctangent",
                 "entry of a scope");
  return holds ? 0 : 1;
}

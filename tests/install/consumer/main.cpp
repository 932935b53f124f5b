// Uses the generated header as a user would: forward keeps codes, backward turns them into
// gradients, and those are the levels that decode gives.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "fewbit/my_act.hpp"

#define FEWBIT_JOIN2(a, b) a##b
#define FEWBIT_JOIN(a, b) FEWBIT_JOIN2(a, b)
namespace my_act = FEWBIT_JOIN(fewbit_my_act_b, BITS);

namespace {

double my_act_derivative(double x) {
  const double s = 1.0 / (1.0 + std::exp(-1.702 * x));
  return s + 1.702 * x * s * (1.0 - s);
}

}  // namespace

int main() {
  constexpr std::size_t kCount = 1001;
  std::vector<float> x(kCount);
  std::vector<float> y(kCount);
  std::vector<float> gradient(kCount);
  const std::vector<float> ones(kCount, 1.0F);
  std::vector<std::uint8_t> codes((kCount * BITS + 127) / 128 * 16);
  for (std::size_t i = 0; i < kCount; ++i) x[i] = -10.0F + 0.02F * static_cast<float>(i);

  my_act::forward(x.data(), y.data(), codes.data(), kCount);
  my_act::backward(ones.data(), codes.data(), gradient.data(), kCount);

  double squared_error = 0.0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double expected = x[i] / (1.0 + std::exp(-1.702 * x[i]));
    if (std::fabs(y[i] - expected) > 1e-5) return 1;
    if (gradient[i] != my_act::decode(my_act::encode(x[i]))) return 2;
    squared_error += 0.02 * std::pow(gradient[i] - my_act_derivative(x[i]), 2);
  }
  std::printf("my_act, %d bits: squared error %.5f\n", BITS, squared_error);
  return squared_error < (BITS == 3 ? 0.03 : 0.1) ? 0 : 3;
}

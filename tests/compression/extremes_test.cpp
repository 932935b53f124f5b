// Gradients beside masks and outliers, in every scheme.
#include <cmath>
#include <limits>
#include <optional>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "fewbit/compressor.hpp"

namespace fewbit::compression_extremes_test {

constexpr Scheme kSchemes[] = {Scheme::rotated, Scheme::group,    Scheme::actnn,
                               Scheme::gact,    Scheme::division, Scheme::blpa};

/// Of a softmax of scores at a temperature, by the temperature.
double gradient(const at::Tensor& scores, Compressor* compressor) {
  at::Tensor t = at::zeros({}).requires_grad_();
  at::Tensor loss;
  {
    std::optional<CompressionScope> scope;
    if (compressor != nullptr) scope.emplace(*compressor);
    loss = (at::softmax(scores * t.exp(), -1) * scores.clamp_min(-10.0)).sum();
  }
  loss.backward();
  return t.grad().item<double>();
}

TEST(CompressionExtremes, OfAMaskLeaveTheTemperatureItsGradient) {
  at::manual_seed(3);
  const at::Tensor plain = at::randn({8, 64, 64});
  const at::Tensor mask = at::ones({64, 64}, at::kBool).triu(1);
  for (const double fill : {-1e4, -65504.0, -1e9, double{std::numeric_limits<float>::lowest()}}) {
    const at::Tensor scores = plain.masked_fill(mask, fill);
    const double exact = gradient(scores, nullptr);
    for (const Scheme scheme : kSchemes) {
      Compressor compressor({.bits = 8, .scheme = scheme});
      for (int step = 0; step < 3; ++step) {
        EXPECT_NEAR(gradient(scores, &compressor), exact, 0.02 * std::fabs(exact))
            << static_cast<int>(scheme) << ", " << fill << '\n'
            << compressor.report();
      }
    }
  }
}

}  // namespace fewbit::compression_extremes_test

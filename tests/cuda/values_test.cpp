// The values of the CUDA kernels, as far as the host's arithmetic stands for the device's: what
// activation.hpp promises.
#include <gtest/gtest.h>

#include "kernels/activation/cpu/half_plan.hpp"
#include "tests/cuda/support.hpp"
#include "tests/support/allowed_error.hpp"

namespace fewbit::kernels::cuda::values_test {

using enum ElementType;

const uint8_t kNoCode[] = {0};
constexpr StepView kNoSteps = {1, false, 0, nullptr, kNoCode, 0, nullptr};
constexpr How kValues = {.keeps_codes = false};

/// f of values, in double.
std::vector<double> exact_values(const Activation& activation, const std::vector<double>& x) {
  const kernels::Activation& on_host = *kernels::find_activation(activation.name);
  return elements(run_forward(on_host, kNoSteps, f64, bytes_of(x, f64)).y, f64);
}

TEST(CudaValues, OfFloatsAreWithin2UlpOr2ToTheMinus24) {
  std::vector<double> x = {0.0, -0.0};
  const auto add = [&](uint32_t begin, uint32_t end, uint32_t step) {
    for (uint32_t bits = begin; bits < end; bits += step) {
      x.push_back(static_cast<double>(std::bit_cast<float>(bits)));
      x.push_back(-x.back());
    }
  };
  add(0x20000000, 0x43000000, 33331);
  add(0, 0x7F800000, 333331);
  for (const Activation& activation : activations()) {
    const std::vector<double> exact = exact_values(activation, x);
    const auto y =
        elements(device_forward(activation, kNoSteps, f32, bytes_of(x, f32), kValues).y, f32);
    for (size_t i = 0; i < x.size(); ++i) {
      if (std::fabs(exact[i]) > 3.4e38) continue;
      ASSERT_NEAR(y[i], exact[i], allowed_error(exact[i], x[i])) << activation.name << ' ' << x[i];
    }
  }
}

TEST(CudaValues, OfEvery16BitInputAreWithinAUnitOfTheNearest) {
  for (const Activation& activation : activations()) {
    for (const ElementType type : {bf16, f16}) {
      const std::vector<double> x = elements(every_half(), type);
      const std::vector<double> exact = exact_values(activation, x);
      const auto y = device_forward(activation, kNoSteps, type, every_half(), kValues).y;
      const auto nearest = bytes_of(exact, type);  // by way of float, where a tie may fall
      for (size_t i = 0; i < x.size(); ++i) {
        uint16_t found = 0;
        uint16_t expected = 0;
        std::memcpy(&found, y.data() + 2 * i, 2);
        std::memcpy(&expected, nearest.data() + 2 * i, 2);
        if (std::isnan(exact[i])) {
          ASSERT_TRUE(std::isnan(float_from_half(type, found))) << activation.name << ' ' << x[i];
        } else {
          ASSERT_LE(std::abs(ordinal(found) - ordinal(expected)), 1)
              << activation.name << ' ' << type_name(type) << ' ' << x[i] << ": "
              << float_from_half(type, found) << ", not " << exact[i];
        }
      }
    }
  }
}

TEST(CudaValues, OfDoublesAreTheFormulas) {
  const std::vector<double> x = normal_inputs(2100, 22);
  for (const Activation& activation : activations()) {
    const auto y =
        elements(device_forward(activation, kNoSteps, f64, bytes_of(x, f64), kValues).y, f64);
    const std::vector<double> exact = exact_values(activation, x);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_NEAR(y[i], exact[i], 4e-15 * std::max(1.0, std::fabs(x[i]))) << activation.name;
    }
  }
}

}  // namespace fewbit::kernels::cuda::values_test

// What the floating-point mode of a thread changes in the kernels: nothing.
#include "tests/support/floating_point_mode.hpp"

#include <gtest/gtest.h>

#include "kernels/activation/cpu/function_kernels.hpp"
#include "tests/kernels/inputs.hpp"
#include "tests/kernels/support.hpp"

namespace fewbit::kernels::floating_point_mode_test {

using test::FloatingPointMode;
using test::for_each_mode;
using test::InMode;

constexpr ElementType kTypes[] = {ElementType::f32, ElementType::bf16, ElementType::f16,
                                  ElementType::f64};

/// Everything that is fitted to a function, made now.
struct Fits {
  Fitted fitted;
  HalfValues bf16;
  HalfValues f16;

  explicit Fits(const Activation& activation) {
    const ValueKernels& kernels = activation.kernels->isa[kBaseline];
    fitted = fit(activation.kernels->function);
    bf16 = tabulate_halves(ElementType::bf16, kernels.slope, activation.kernels->function);
    f16 = tabulate_halves(ElementType::f16, kernels.slope, activation.kernels->function);
  }
};

TEST(FloatingPointMode, ChangesNothingThatIsFitted) {
  for (const Activation& activation : activations()) {
    const Fits usual(activation);
    for_each_mode([&](const FloatingPointMode& mode) {
      const InMode in(mode);
      const Fits found(activation);
      EXPECT_TRUE(found.fitted == usual.fitted) << activation.name << ' ' << mode.name;
      EXPECT_EQ(found.bf16.y, usual.bf16.y) << activation.name << ' ' << mode.name;
      EXPECT_EQ(found.f16.y, usual.f16.y) << activation.name << ' ' << mode.name;
    });
  }
}

/// Thresholds and what lies around them, and numbers that are subnormal as floats.
std::vector<uint8_t> inputs(const StepView& steps, ElementType type) {
  std::vector<double> x = around_thresholds<float>(steps);
  for (const double small : {1e-45, 1e-40, 1e-38, 6e-8, 3e-5, 2e-308, 5e-324}) {
    x.push_back(small);
    x.push_back(-small);
  }
  return bytes_of(x, type);
}

struct Passes {
  Forward forward;
  std::vector<uint8_t> dx;
};

Passes run_passes(const NamedTable& named, ElementType type, const std::vector<uint8_t>& x) {
  const Activation& activation = *find_activation(named.function);
  const StepView steps = view_of(*named.table);
  Passes passes;
  if (steps.codes != nullptr) {
    passes.forward = run_forward(activation, steps, type, x);
  } else {
    const int64_t count = static_cast<int64_t>(x.size()) / element_bytes(type);
    const auto bytes = static_cast<size_t>(code_bytes(count, steps.bits));
    passes.forward = {std::vector<uint8_t>(x.size()), std::vector<uint8_t>(bytes)};
    activation_forward_unbiased(activation, nullptr, steps, {5, 6}, type, x.data(),
                                passes.forward.y.data(), passes.forward.codes.data(),
                                {0, count, count});
  }
  passes.dx = run_backward(steps, type, x, passes.forward.codes);
  return passes;
}

TEST(FloatingPointMode, ChangesNoBitOfAnyPass) {
  for (const NamedTable& named : all_tables()) {
    if (named.table->bits != 1 && named.table->bits != 3) continue;
    for (const ElementType type : kTypes) {
      const std::vector<uint8_t> x = inputs(view_of(*named.table), type);
      for_each_target([&](int64_t target) {
        const Passes usual = run_passes(named, type, x);
        for_each_mode([&](const FloatingPointMode& mode) {
          const InMode in(mode);
          const Passes found = run_passes(named, type, x);
          const std::string where = std::string(named.function) + ' ' + named.table->name + ' ' +
                                    type_name(type) + ' ' + mode.name + ' ' +
                                    hwy::TargetName(target);
          ASSERT_EQ(found.forward.codes, usual.forward.codes) << where;
          ASSERT_EQ(found.forward.y, usual.forward.y) << where;
          ASSERT_EQ(found.dx, usual.dx) << where;
        });
      });
    }
  }
}

TEST(FloatingPointMode, IsTheThreadsAgainAfterAPass) {
  const StepView steps = view_of(generated::gelu::tables::levels_normal_b3);
  const std::vector<uint8_t> x = inputs(steps, ElementType::f32);
  for_each_mode([&](const FloatingPointMode& mode) {
    const InMode in(mode);
    run_forward(*find_activation("gelu"), steps, ElementType::f32, x);
    EXPECT_EQ(std::fegetround(), mode.rounding) << mode.name;
    const volatile float least = 0x1p-126f;
    const float halved = 0.5f * least;
    EXPECT_EQ(std::bit_cast<uint32_t>(halved) == 0, mode.flushes) << mode.name;
  });
}

TEST(FloatingPointMode, ChangesNoHalfAndNoPlaceOfAThreshold) {
  for (const ElementType type : {ElementType::bf16, ElementType::f16}) {
    for_each_mode([&](const FloatingPointMode& mode) {
      for (int half = 0; half < 0x7C00; ++half) {
        const auto bits = static_cast<uint16_t>(half);
        const float usual = float_from_half(type, bits);
        const float beside = std::nextafter(usual, 1e30f);
        const uint16_t usual_half = half_from_float(type, beside);
        const InMode in(mode);
        const float found = float_from_half(type, bits);
        ASSERT_EQ(std::bit_cast<uint32_t>(found), std::bit_cast<uint32_t>(usual)) << mode.name;
        ASSERT_EQ(half_from_float(type, beside), usual_half) << mode.name << ' ' << half;
      }
    });
  }
}

}  // namespace fewbit::kernels::floating_point_mode_test

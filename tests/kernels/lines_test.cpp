#include "kernels/cpu/lines.hpp"

#include <map>

#include <gtest/gtest.h>

#include "tests/kernels/support.hpp"

namespace fewbit::kernels {

namespace {

TEST(Lines, AreFoundWhereAFunctionHasNoOtherPieces) {
  std::map<std::string, int> pieces;
  for (const Activation& activation : activations()) {
    const Lines& lines = activation.kernels->lines();
    if (lines.degree != 0) pieces[activation.name] = 10 * lines.degree + lines.pieces;
  }
  EXPECT_EQ(pieces, (std::map<std::string, int>{{"relu", 11},
                                                {"relu6", 11},
                                                {"hardtanh", 11},
                                                {"threshold", 11},
                                                {"leaky_relu", 12},
                                                {"hardsigmoid", 13},
                                                {"hardshrink", 13},
                                                {"softshrink", 13},
                                                {"relu_squared", 21},
                                                {"hardswish", 23}}));
}

TEST(Lines, EndAtTheVeryFloatsOfTheFunction) {
  const Lines& relu6 = find_activation("relu6")->kernels->lines();
  EXPECT_EQ(relu6.left_end, 0.0f);
  EXPECT_EQ(relu6.right_begin, 6.0f);
  // Here the ends themselves belong to the middle.
  const Lines& hardshrink = find_activation("hardshrink")->kernels->lines();
  EXPECT_EQ(hardshrink.left_end, std::nextafter(-0.5f, -1.0f));
  EXPECT_EQ(hardshrink.right_begin, std::nextafter(0.5f, 1.0f));
}

TEST(Lines, GiveWhatTheLoopsGive) {
  const uint8_t code = 0;
  const StepView none{1, false, 0, nullptr, &code, 0, nullptr};
  std::vector<double> x = {0.0, -0.0, INFINITY, -INFINITY, 3e38, -3e38, 1e-40, -1e-40};
  for (const float at : {0.5f, 1.0f, 3.0f, 6.0f}) {
    for (const float sign : {1.0f, -1.0f}) {
      for (const float to : {0.0f, 9.0f}) {
        x.push_back(static_cast<double>(sign * at));
        x.push_back(static_cast<double>(sign * std::nextafter(at, to)));
      }
    }
  }
  for (const char* const name : {"relu", "leaky_relu", "relu6", "hardtanh", "threshold",
                                 "hardshrink", "softshrink", "relu_squared"}) {
    const Activation& activation = *find_activation(name);
    alignas(64) float loop_x[kBlock] = {};
    alignas(64) float loop_y[kBlock];
    for (size_t i = 0; i < x.size(); ++i) loop_x[i] = static_cast<float>(x[i]);
    activation.kernels->isa[kBaseline].value(loop_x, loop_y,
                                             activation.kernels->function.narrow_parameters);
    for_each_target([&](int64_t target) {
      const Forward pass =
          run_forward(activation, none, ElementType::f32, bytes_of(x, ElementType::f32));
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(element(pass.y, ElementType::f32, static_cast<int64_t>(i)),
                  static_cast<double>(loop_y[i]))
            << name << " at " << x[i] << ' ' << hwy::TargetName(target);
      }
    });
  }
}

}  // namespace

}  // namespace fewbit::kernels

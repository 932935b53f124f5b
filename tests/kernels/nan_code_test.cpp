// A NaN's own code, whatever finds it, and doubles compared with doubles.
#include <gtest/gtest.h>

#include "tests/kernels/inputs.hpp"
#include "tests/kernels/support.hpp"

namespace fewbit::kernels::nan_code_test {

constexpr ElementType kTypes[] = {ElementType::f32, ElementType::bf16, ElementType::f16,
                                  ElementType::f64};

std::vector<double> inputs_with_nan() {
  std::vector<double> x = normal_inputs(1100, 5);
  for (size_t i = 0; i < x.size(); i += 7) x[i] = i % 2 == 0 ? NAN : -NAN;
  x[1] = INFINITY;
  x[2] = -INFINITY;
  return x;
}

TEST(NanCode, IsGivenToNansAloneByTablesOfEveryShape) {
  // relu's kernels take the codes of few thresholds along, gelu's find them apart.
  for (const char* const function : {"relu", "hardtanh", "gelu", "elu"}) {
    for (const int bits : {1, 2, 3, 8}) {
      for (const int thresholds : {0, 1, 2, 3, 7, 48, 49, 300}) {
        SyntheticTable table(bits, thresholds, static_cast<uint32_t>(bits * 1000 + thresholds));
        for (const bool even : {false, true}) {
          for (const int nan_code : {0, (1 << bits) - 1}) {
            table.even = even;
            table.nan_code = nan_code;
            for (const ElementType type : kTypes) {
              const std::vector<uint8_t> x = bytes_of(inputs_with_nan(), type);
              const auto expected = reference_stream(table.view(), elements(x, type));
              for_each_target([&](int64_t target) {
                const Forward pass = run_forward(*find_activation(function), table.view(), type, x);
                ASSERT_EQ(pass.codes, expected)
                    << function << ' ' << bits << " bits, " << thresholds << " thresholds, "
                    << type_name(type) << ' ' << hwy::TargetName(target);
              });
            }
          }
        }
      }
    }
  }
}

TEST(NanCode, IsGivenToEveryNanOfTheSixteenBitTypes) {
  SyntheticTable table(1, 1, 3);
  table.codes = {0, 1};
  for (const int nan_code : {0, 1}) {
    table.nan_code = nan_code;
    for (const ElementType type : {ElementType::bf16, ElementType::f16}) {
      const auto expected = reference_stream(table.view(), elements(every_half(), type));
      for_each_target([&](int64_t target) {
        const Forward pass =
            run_forward(*find_activation("relu"), table.view(), type, every_half());
        ASSERT_EQ(pass.codes, expected) << type_name(type) << ' ' << hwy::TargetName(target);
      });
    }
  }
}

TEST(WideThresholds, AreWhatDoublesAreComparedWith) {
  SyntheticTable table(2, 9, 4);
  std::vector<double> wide;
  for (const float t : table.thresholds) wide.push_back(static_cast<double>(t) + 1e-12);
  std::vector<double> x = inputs_with_nan();
  for (const double t : wide) {
    for (const double to : {-INFINITY, INFINITY}) {
      x.push_back(std::nextafter(t, to));
      x.push_back(-std::nextafter(t, to));
    }
    x.push_back(t);
    x.push_back(t - 1e-12);
  }
  for (const bool even : {false, true}) {
    table.even = even;
    table.nan_code = even ? 3 : -1;
    StepView steps = table.view();
    steps.wide_thresholds = wide.data();
    const auto expected = reference_stream(steps, x);
    for_each_target([&](int64_t target) {
      const Forward pass = run_forward(*find_activation("relu"), steps, ElementType::f64,
                                       bytes_of(x, ElementType::f64));
      ASSERT_EQ(pass.codes, expected) << hwy::TargetName(target);
    });
  }
}

}  // namespace fewbit::kernels::nan_code_test

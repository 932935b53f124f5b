#include "tests/support/refusal.hpp"

#include <gtest/gtest.h>

#include "tests/ops/support.hpp"

namespace fewbit::refusal_test {

using test::refusal;

const Table& table() {
  static const Table kTable = Table::standard("gelu", Bits{3});
  return kTable;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST(Refusal, NamesTheOperationTheTypeSeenAndTheTypesAccepted) {
  EXPECT_EQ(refusal([] { gelu(at::ones({3}, at::kInt), Bits{3}); }),
            "fewbit::activation_value: a tensor of Int, accepted: float, bfloat16, half, double");
}

TEST(Refusal, OfTypesAndLayoutsWithoutAKernel) {
  const auto seen = [](const at::Tensor& x) {
    const auto [y, codes] = test::forward(at::ones({3}), table());
    EXPECT_NE(refusal([&] { test::forward(x, table()); }), "accepted");
    EXPECT_NE(refusal([&, c = codes] { test::backward(x, c, table()); }), "accepted");
    return refusal([&] { gelu(x, Bits{3}); });
  };
  for (const at::ScalarType type : {at::kLong, at::kBool, at::kComplexFloat, at::kFloat8_e4m3fn}) {
    EXPECT_TRUE(contains(seen(at::ones({3}).to(type)), "accepted: float, bfloat16, half, double"));
  }
  EXPECT_TRUE(contains(seen(at::ones({3}).to_sparse()), "fewbit::activation"));
  EXPECT_TRUE(contains(seen(at::Tensor()), "fewbit::activation"));
}

TEST(Refusal, OfDevicesThatDoNotBelongTogether) {
  const auto [y, stream] = test::forward(at::ones({100}), table());
  const at::Tensor codes = stream, x = at::ones({100});
  EXPECT_EQ(refusal([&] { test::backward(x, codes.to(at::kMeta), table()); }),
            "fewbit::activation_backward: dy is on cpu, but another argument on meta");
  EXPECT_EQ(refusal([&] { test::backward(x.to(at::kMeta), codes, table()); }),
            "fewbit::activation_backward: codes is on cpu, but dy on meta");
}

TEST(Refusal, OfSeedsThatAreMissingOrNone) {
  const Table unbiased = Table::builtin("gelu", "unbiased_normal_b2");
  const auto with = [&](const std::optional<at::Tensor>& seed) {
    return refusal([&] {
      ops::activation_forward(at::ones({4}), ops::arguments_of(unbiased, at::kFloat, seed));
    });
  };
  EXPECT_EQ(with(at::zeros({1}, at::kLong)), "accepted");
  EXPECT_EQ(with({}),
            "fewbit::activation_forward: a table of the unbiased form takes a seed, one int64 on "
            "cpu");
  EXPECT_EQ(with(at::zeros({2}, at::kLong)),
            "fewbit::activation_forward: seed is 2 elements of Long, accepted: one Long");
  EXPECT_EQ(with(at::zeros({1})),
            "fewbit::activation_forward: seed is 1 elements of Float, accepted: one Long");
}

std::string refusal_of(const std::vector<double>& thresholds, const std::vector<int64_t>& codes,
                       const std::vector<double>& levels) {
  return refusal([&] {
    ops::activation_forward(at::ones({9}), {"gelu", {}, {thresholds, codes, levels, false}, {}});
  });
}

TEST(Refusal, OfMoreThresholdsThanKernelsKeep) {
  const auto of = [](size_t count) {
    std::vector<double> thresholds(count);
    for (size_t i = 0; i < count; ++i) thresholds[i] = static_cast<double>(i);
    return refusal_of(thresholds, std::vector<int64_t>(count + 1), {1.0, 1.0});
  };
  EXPECT_EQ(of(1023), "accepted");
  EXPECT_EQ(of(1024),
            "fewbit::activation_forward: thresholds has 1024 elements, accepted: at most 1023");
}

TEST(Refusal, OfCodesOfTheWrongLengthAlsoWithoutData) {
  const at::Tensor dy = at::ones({100}, at::kMeta);
  EXPECT_EQ(
      refusal([&] { test::backward(dy, at::ones({32}, dy.options().dtype(at::kByte)), table()); }),
      "fewbit::activation_backward: codes has 32 bytes, accepted: 48, which 100 codes of 3 "
      "bits take");
}

TEST(Refusal, OfBuiltinTablesOfAnotherFunctionByName) {
  const auto call = [](const char* function, const char* name) {
    return refusal([&] { test::activation_by_name(at::ones({3}), function, name); });
  };
  EXPECT_EQ(call("gelu", "levels_normal_b3"), "accepted");
  EXPECT_TRUE(contains(call("relu", "levels_normal_b3"),
                       "fewbit::Table: relu has no built-in table 'levels_normal_b3', accepted: "));
  EXPECT_EQ(call("gelo", "levels_normal_b3"), "fewbit::Table: unknown function 'gelo'");
}

TEST(Refusal, OfBitsOutOfRange) {
  EXPECT_EQ(refusal([] { gelu(at::ones({3}), Bits{0}); }), "fewbit: 0 bits, accepted: 1 to 8");
  EXPECT_EQ(refusal([] { gelu(at::ones({3}), Bits{9}); }), "fewbit: 9 bits, accepted: 1 to 8");
}

TEST(Refusal, OfCodesOfTheWrongLength) {
  const auto [y, codes] = test::forward(at::ones({100}), table());
  EXPECT_EQ(refusal([&, c = codes] { test::backward(at::ones({101 + 64}), c, table()); }),
            "fewbit::activation_backward: codes has 48 bytes, accepted: 64, which 165 codes of 3 "
            "bits take");
  EXPECT_EQ(refusal([&, c = codes] { test::backward(at::ones({100}), c.to(at::kInt), table()); }),
            "fewbit::activation_backward: codes is a 1-d tensor of Int, accepted: contiguous 1-d "
            "uint8");
}

TEST(Refusal, OfTablesThatAreNone) {
  EXPECT_EQ(refusal_of({0.0, 1.0}, {0, 1}, {0.0, 1.0}),
            "fewbit::activation_forward: codes has 2 elements, accepted: 3, one more than "
            "thresholds, or 4 with the code of a NaN");
  EXPECT_EQ(refusal_of({0.0}, {0, 2}, {0.0, 1.0}),
            "fewbit::activation_forward: codes names level 2, accepted: 0 to 1");
  EXPECT_EQ(refusal_of({0.0}, {0, -1}, {0.0, 1.0}),
            "fewbit::activation_forward: codes names level -1, accepted: 0 to 1");
  EXPECT_EQ(refusal_of({0.0}, {0, 1}, {1.0}),
            "fewbit::activation_forward: levels has 1 elements, accepted: 2 to 256");
}

TEST(Refusal, OfUnknownFunctionsAndWrongParameters) {
  const auto call = [](const char* function, std::vector<double> parameters) {
    return refusal([&] { ops::activation_value(at::ones({3}), function, parameters); });
  };
  EXPECT_EQ(call("gelo", {}), "fewbit::activation_value: unknown function 'gelo'");
  EXPECT_EQ(call("elu", {1.0, 2.0}), "fewbit::activation_value: elu takes 1 parameters, not 2");
  EXPECT_EQ(refusal([] { gelu(at::ones({3}), Bits{3}, "cube"); }),
            "fewbit::gelu: approximate is 'cube', accepted: none, tanh");
}

}  // namespace fewbit::refusal_test

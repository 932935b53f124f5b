#include "tests/support/refusal.hpp"

#include <gtest/gtest.h>

#include "tests/ops/support.hpp"

namespace fewbit {

namespace {

using test::refusal;

const Table& table() {
  static const Table kTable = Table::standard("gelu", Bits{3});
  return kTable;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST(Refusal, NamesTheOperationTheTypeSeenAndTheTypesAccepted) {
  EXPECT_EQ(refusal([] { gelu(at::ones({3}, at::kInt), Bits{3}); }),
            "fewbit::activation_value: a tensor of Int, accepted: float, bfloat16, half, double");
}

TEST(Refusal, OfTypesAndLayoutsWithoutAKernel) {
  const auto seen = [](const at::Tensor& x) {
    const auto [y, codes] = test::forward(at::ones({3}), table());
    EXPECT_NE(refusal([&] { test::forward(x, table()); }), "accepted");
    EXPECT_NE(refusal([&, c = codes] { ops::activation_backward(x, c, table().levels()); }),
              "accepted");
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
  const at::Tensor codes = stream, x = at::ones({100}), levels = table().levels();
  const auto backward = [](const at::Tensor& dy, const at::Tensor& c, const at::Tensor& l) {
    return refusal([&] { ops::activation_backward(dy, c, l); });
  };
  EXPECT_EQ(backward(x, codes.to(at::kMeta), levels),
            "fewbit::activation_backward: dy is on cpu, but another argument on meta");
  EXPECT_EQ(backward(x, codes, levels.to(at::kMeta)),
            "fewbit::activation_backward: dy is on cpu, but another argument on meta");
  EXPECT_EQ(backward(x.to(at::kMeta), codes, levels),
            "fewbit::activation_backward: codes is on cpu, but dy on meta");
  EXPECT_EQ(refusal([&] {
              ops::activation_forward(x, "gelu", {}, table().thresholds().to(at::kMeta),
                                      table().interval_codes(), levels, false, {});
            }),
            "fewbit::activation_forward: x is on cpu, but another argument on meta");
}

TEST(Refusal, OfMoreThresholdsThanKernelsKeep) {
  const auto of = [](int64_t count) {
    const at::Tensor codes = at::zeros({count + 1}, at::kByte);
    return refusal([&] {
      ops::activation_forward(at::ones({9}), "gelu", {}, at::linspace(-1, 1, count), codes,
                              at::ones({2}), false, {});
    });
  };
  EXPECT_EQ(of(1023), "accepted");
  EXPECT_EQ(of(1024),
            "fewbit::activation_forward: thresholds has 1024 elements, accepted: at most 1023");
}

TEST(Refusal, OfCodesOfTheWrongLengthAlsoWithoutData) {
  const at::Tensor dy = at::ones({100}, at::kMeta);
  EXPECT_EQ(refusal([&] {
              ops::activation_backward(dy, at::ones({32}, dy.options().dtype(at::kByte)),
                                       table().levels());
            }),
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
  EXPECT_EQ(refusal([&, c = codes] {
              ops::activation_backward(at::ones({101 + 64}), c, table().levels());
            }),
            "fewbit::activation_backward: codes has 48 bytes, accepted: 64, which 165 codes of 3 "
            "bits take");
  EXPECT_EQ(refusal([&, c = codes] {
              ops::activation_backward(at::ones({100}), c.to(at::kInt), table().levels());
            }),
            "fewbit::activation_backward: codes is a 1-d tensor of Int, accepted: contiguous 1-d "
            "uint8");
}

TEST(Refusal, OfTablesThatAreNone) {
  const at::Tensor x = at::ones({4});
  const auto with = [&](const at::Tensor& thresholds, const at::Tensor& codes,
                        const at::Tensor& levels) {
    return refusal(
        [&] { ops::activation_forward(x, "gelu", {}, thresholds, codes, levels, false, {}); });
  };
  const at::Tensor two = at::tensor({0, 1}, at::kByte);
  const at::Tensor levels = at::tensor({0.0f, 1.0f});
  EXPECT_EQ(with(at::tensor({0.0f, 1.0f}), two, levels),
            "fewbit::activation_forward: interval_codes has 2 elements, accepted: 3, one more than "
            "thresholds, or 4 with the code of a NaN");
  EXPECT_EQ(with(at::tensor({0.0f}), at::tensor({0, 2}, at::kByte), levels),
            "fewbit::activation_forward: interval_codes names a level beyond the 2 of levels");
  EXPECT_EQ(with(at::tensor({0.0f}), two, at::tensor({1.0f})),
            "fewbit::activation_forward: levels has 1 elements, accepted: 2 to 256");
  EXPECT_EQ(with(at::tensor({0.0}, at::kDouble), two, levels),
            "fewbit::activation_forward: thresholds is a 1-d tensor of Double on cpu, accepted: "
            "contiguous 1-d Float on the CPU");
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

}  // namespace fewbit

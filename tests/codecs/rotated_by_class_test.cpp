// What is left once the class of each element is known, rotated: less error, no bias, the same
// bytes.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "ops/activation.hpp"
#include "ops/integers.hpp"
#include "tests/codecs/support.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::codecs::rotated_by_class_test {

constexpr RotatedCodes kTwoBits{2, 256};

Classes classes_of(const at::Tensor& of_elements, int count, std::optional<int> zero = {}) {
  constexpr int kBits = 5;
  const ops::ElementClasses classes{ops::integer_encode(of_elements, 0, kBits), kBits};
  return {count, [classes] { return classes; }, zero};
}

/// An activation's output and the classes that its codes tell.
struct Activated {
  at::Tensor y;
  Classes classes;

  Activated(const std::string& function, int bits, const at::Tensor& x) {
    const Table table = Table::standard(function, Bits{bits});
    const auto [result, codes] =
        ops::activation_forward(x, ops::arguments_of(table, x.scalar_type()));
    y = result;
    const auto zero = function == "relu" ? std::optional(0) : std::nullopt;
    classes = {1 << table.bits(),
               [codes = codes, bits = table.bits()] {
                 return ops::ElementClasses{codes, bits};
               },
               zero};
  }
};

// By the book: D (sum p s)^2 of the classes over the energy.
TEST(RotatedByClass, HasTheErrorThatIsLeft) {
  at::manual_seed(1);
  const at::Tensor x = at::randn({1 << 18});
  struct Expected {
    const char* function;
    int table_bits;
    double left;
  };
  for (const auto& [function, table_bits, left] :
       {Expected{"relu", 1, 0.182}, {"gelu", 3, 0.066}, {"gelu", 2, 0.113}, {"silu", 3, 0.024}}) {
    const Activated activated(function, table_bits, x);
    for (const int bits : {1, 2, 4}) {
      const RotatedCodes form{bits, 256};
      const double wanted = ops::rotated_error(form) * left;
      EXPECT_NEAR(error_of(rotated_by_class(form, activated.classes), activated.y), wanted,
                  0.15 * wanted)
          << function << ' ' << table_bits << ' ' << bits;
    }
  }
}

TEST(RotatedByClass, BringsZerosBackAsZeros) {
  at::manual_seed(2);
  const Activated relu("relu", 1, at::randn({100, 33}));
  for (const auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const at::Tensor y = relu.y.to(type);
    const at::Tensor back = coded(rotated_by_class(kTwoBits, relu.classes), y);
    EXPECT_EQ(back.scalar_type(), type);
    EXPECT_TRUE(at::equal(back.eq(0.0), run_of(y).eq(0.0))) << type;
  }
}

// Mean errors of many draws shrink as errors do that have no mean.
TEST(RotatedByClass, HasNoBias) {
  at::manual_seed(3);
  constexpr int kDraws = 1000;
  const Activated gelu("gelu", 3, at::randn({2048}) * 1.5);
  const CodecPointer codec = rotated_by_class({1, 256}, gelu.classes);
  at::Tensor sum = at::zeros({2048}, at::kDouble), squares = at::zeros({}, at::kDouble);
  for (int64_t draw = 0; draw < kDraws; ++draw) {
    const at::Tensor error =
        codec->encode(gelu.y, random_of(5, draw))->decoded().to(at::kDouble) - gelu.y;
    sum += error;
    squares += error.square().sum();
  }
  const double share = ((sum / kDraws).square().sum() / (squares / kDraws)).item().toDouble();
  EXPECT_LT(share, 1.25 / kDraws);  // 1 / kDraws of noise alone, 2,048 of them
  EXPECT_GT(share, 0.75 / kDraws);
}

// The sample's means and deviations may be those of others, or none.
TEST(RotatedByClass, IsRightForClassesThatWereHardlyMet) {
  at::manual_seed(4);
  const int64_t count = 100000;
  at::Tensor x = at::randn({count});
  at::Tensor classes = at::zeros({count}, at::kByte);
  classes.narrow(0, 7, 3).fill_(1);
  x.narrow(0, 7, 3).add_(100.0);
  const CodecPointer codec = rotated_by_class({8, 256}, classes_of(classes, 32));
  EXPECT_LT((coded(codec, x) - x).abs().max().item().toDouble(), 2.0);
  const at::Tensor same = at::full({5000}, 3.25);
  EXPECT_TRUE(at::equal(
      coded(rotated_by_class(kTwoBits, classes_of(at::ones({5000}, at::kByte), 2)), same), same));
}

TEST(RotatedByClass, TakesEveryMagnitude) {
  at::manual_seed(5);
  const at::Tensor base = at::randn({4096}, at::kDouble);
  const Classes classes = classes_of(base.gt(0.0).to(at::kByte), 2);
  for (const auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const double wanted = error_of(rotated_by_class({4, 256}, classes), base.to(type));
    EXPECT_LT(wanted, 0.006) << type;
    const double most = type == at::kHalf ? 1e4 : type == at::kDouble ? 1e290 : 5e37;
    const double least = type == at::kHalf ? 1e-3 : type == at::kDouble ? 1e-280 : 1e-30;
    for (const double magnitude : {least, most}) {
      const at::Tensor x = (base * magnitude).to(type);
      const at::Tensor back = coded(rotated_by_class({4, 256}, classes), x).to(at::kDouble);
      ASSERT_TRUE(back.isfinite().all().item().toBool()) << type << magnitude;
      const at::Tensor exact = x.to(at::kDouble) / magnitude;
      const double error =
          ((back / magnitude - exact).square().sum() / exact.square().sum()).item().toDouble();
      EXPECT_LT(error, 0.02) << type << ' ' << magnitude;
    }
  }
}

TEST(RotatedByClass, MakesNanOfAGroupWithOneAndLeavesOthers) {
  at::manual_seed(6);
  const Activated relu("relu", 1, at::randn({1024}));
  const CodecPointer codec = rotated_by_class(kTwoBits, relu.classes);
  for (const double value : {NAN, INFINITY}) {
    at::Tensor odd = relu.y.clone();
    odd[300] = value;
    const at::Tensor back = coded(codec, odd);
    EXPECT_TRUE(back.narrow(0, 256, 256).isnan().all().item().toBool());
    EXPECT_TRUE(back.narrow(0, 0, 256).isfinite().all().item().toBool());
    EXPECT_LT((back - relu.y).narrow(0, 512, 512).abs().max().item().toDouble(), 1.5);
  }
}

TEST(RotatedByClass, KeepsItsBitsConstantsAndMaps) {
  const Activated gelu("gelu", 3, at::randn({4096}));
  for (int bits = 1; bits <= 8; ++bits) {
    const CodecPointer codec = rotated_by_class({bits, 256}, gelu.classes);
    const auto encoded = codec->encode(gelu.y, random_of(1));
    EXPECT_EQ(bytes_of(*encoded), 4096 * bits / 8 + 16 * 4 + 8 + 8 * gelu.classes.count);
    EXPECT_EQ(bytes_ahead(*codec, gelu.y), bytes_of(*encoded));
  }
}

TEST(RotatedByClass, RefusesWhatItIsNotOf) {
  const at::Tensor classes = at::zeros({100}, at::kByte);
  EXPECT_EQ(text_of(*rotated_by_class(kTwoBits, {})), "rotated by class, 2 bits");
  EXPECT_FALSE(rotated_by_class(kTwoBits, {})->takes(at::ones({100})));
  EXPECT_FALSE(
      rotated_by_class(kTwoBits, classes_of(classes, 2))->takes(at::ones({100}, at::kLong)));
  const std::string refusal = test::refusal(
      [&] { coded(rotated_by_class(kTwoBits, classes_of(classes, 2)), at::ones({200})); });
  EXPECT_NE(refusal.find("fewbit::class_maps: codes"), std::string::npos) << refusal;
  EXPECT_EQ(test::refusal([] {
              rotated_by_class(kTwoBits, {33, {}, {}});
            }),
            "fewbit::codecs::rotated_by_class: 33 classes, accepted: at most 32");
}

}  // namespace fewbit::codecs::rotated_by_class_test

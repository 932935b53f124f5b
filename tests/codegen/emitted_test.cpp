// The emitted C++ headers, compiled, against the tables they were made from.
#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "emitted/elu_half.hpp"
#include "emitted/gelu_b1.hpp"
#include "emitted/gelu_b2.hpp"
#include "emitted/gelu_b3.hpp"
#include "emitted/gelu_b4.hpp"
#include "emitted/gelu_b5.hpp"
#include "emitted/gelu_b6.hpp"
#include "emitted/gelu_b7.hpp"
#include "emitted/gelu_b8.hpp"
#include "emitted/gelu_l17.hpp"
#include "emitted/gelu_l18.hpp"
#include "emitted/gelu_repeats.hpp"
#include "emitted/layers.inc"
#include "emitted/relu_constant.hpp"
#include "emitted/silu_edges.hpp"
#include "emitted/tanh_even.hpp"
#include "fixtures.hpp"
#include "tests/codegen/element_types.hpp"

namespace fewbit::emitted_test {

using solver::Table;

struct Emitted {
  const char* name;
  size_t bits;
  unsigned (*encode)(float);
  float (*decode)(unsigned);
  float (*activation)(float);
  size_t (*code_bytes)(size_t);
  void (*forward)(const float*, float*, uint8_t*, size_t);
  void (*backward)(const float*, const uint8_t*, float*, size_t);
};

void PrintTo(const Emitted& header, std::ostream* out) {
  *out << header.name;
}

#define EMITTED(name)                                                                 \
  Emitted {                                                                           \
#name, emitted::name::kBits, emitted::name::encode, emitted::name::decode,        \
        emitted::name::activation, emitted::name::code_bytes, emitted::name::forward, \
        emitted::name::backward                                                       \
  }
const Emitted kHeaders[] = {EMITTED(gelu_b1),  EMITTED(gelu_b2),       EMITTED(gelu_b3),
                            EMITTED(gelu_b4),  EMITTED(gelu_b5),       EMITTED(gelu_b6),
                            EMITTED(gelu_b7),  EMITTED(gelu_b8),       EMITTED(gelu_l17),
                            EMITTED(gelu_l18), EMITTED(tanh_even),     EMITTED(gelu_repeats),
                            EMITTED(elu_half), EMITTED(relu_constant), EMITTED(silu_edges)};

std::vector<float> inputs(size_t count) {
  std::vector<float> x(count);
  for (size_t i = 0; i < count; ++i) x[i] = 4.0f * std::sin(1.0f + 7.3f * static_cast<float>(i));
  return x;
}

void expect_codes(const Emitted& header, const Table& table) {
  std::vector<float> x = inputs(20000);
  for (const double threshold : table.thresholds) {
    for (const float side : {-1.0f, 1.0f}) {
      const float t = side * static_cast<float>(threshold);
      x.insert(x.end(), {t, std::nextafter(t, -INFINITY), std::nextafter(t, INFINITY)});
    }
  }
  x.insert(x.end(), {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-45f, 3e38f});
  for (const float value : x) {
    const int code = table.codes[table.interval_of(static_cast<double>(value))];
    ASSERT_EQ(header.encode(value), static_cast<unsigned>(code)) << "x = " << value;
  }
}

class EmittedHeader : public testing::TestWithParam<Emitted> {
 protected:
  Table table_ = test::emitted_table(GetParam().name);
};

TEST_P(EmittedHeader, EncodesAsTheTableDoes) {
  expect_codes(GetParam(), table_);
}

TEST_P(EmittedHeader, DecodesEveryCodeAsItsLevel) {
  for (size_t code = 0; code < table_.levels.size(); ++code) {
    EXPECT_EQ(GetParam().decode(static_cast<unsigned>(code)),
              static_cast<float>(table_.levels[code]));
  }
}

TEST_P(EmittedHeader, WritesADenseStreamWithAZeroTail) {
  for (size_t count = 0; count <= 130; ++count) {
    const std::vector<float> x = inputs(count);
    const size_t bytes = GetParam().code_bytes(count);
    ASSERT_EQ(bytes, (count * GetParam().bits + 127) / 128 * 16);
    std::vector<float> y(count);
    std::vector<uint8_t> codes(bytes + 8, 0xa5);
    GetParam().forward(x.data(), y.data(), codes.data(), count);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(test::read_code(codes, GetParam().bits, i), GetParam().encode(x[i]));
      ASSERT_EQ(y[i], GetParam().activation(x[i]));
    }
    for (size_t bit = count * GetParam().bits; bit < bytes * 8; ++bit) {
      ASSERT_EQ(codes[bit / 8] >> (bit % 8) & 1, 0) << "tail of " << count;
    }
    for (size_t i = bytes; i < codes.size(); ++i) ASSERT_EQ(codes[i], 0xa5) << "past the end";
  }
}

TEST_P(EmittedHeader, BackwardMultipliesByTheLevel) {
  for (size_t count = 0; count <= 130; ++count) {
    const std::vector<float> x = inputs(count);
    std::vector<float> y(count);
    std::vector<float> gradient(count + 1, 1.5f);
    std::vector<uint8_t> codes(GetParam().code_bytes(count));
    GetParam().forward(x.data(), y.data(), codes.data(), count);
    GetParam().backward(gradient.data(), codes.data(), gradient.data(), count);
    for (size_t i = 0; i < count; ++i) {
      const float level = GetParam().decode(test::read_code(codes, GetParam().bits, i));
      ASSERT_EQ(gradient[i], 1.5f * level);
    }
    ASSERT_EQ(gradient[count], 1.5f) << "past the end";
  }
}

INSTANTIATE_TEST_SUITE_P(AllTables, EmittedHeader, testing::ValuesIn(kHeaders),
                         [](const auto& header) { return std::string(header.param.name); });

TEST(EmittedLayers, HaveTheirOwnCodesInOneTranslationUnit) {
  EXPECT_NE(layer0::decode(0), layer1::decode(0));
  EXPECT_EQ(layer0::decode(1), layer1::decode(1));
}

TEST(EmittedParameters, AreThoseOfTheTable) {
  EXPECT_NEAR(emitted::elu_half::activation(-1.0f), 0.5f * std::expm1(-1.0f), 1e-7f);
  EXPECT_NEAR(emitted::elu_half::derivative(-1.0f), 0.5f * std::exp(-1.0f), 1e-7f);
}

TEST(EmittedCode, BeyondTheLevelsDecodesAsTheLast) {
  EXPECT_EQ(emitted::elu_half::kLevels, 3u);
  EXPECT_EQ(emitted::elu_half::decode(3), 1.0f);
}

}  // namespace fewbit::emitted_test

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
#include "emitted/gelu_repeats.hpp"
#include "emitted/tanh_even.hpp"
#include "fixtures.hpp"

namespace fewbit {

namespace {

using solver::Form;
using solver::Table;

struct Emitted {
  size_t bits;
  unsigned (*encode)(float);
  float (*decode)(unsigned);
  float (*activation)(float);
  size_t (*code_bytes)(size_t);
  void (*forward)(const float*, float*, uint8_t*, size_t);
  void (*backward)(const float*, const uint8_t*, float*, size_t);
};

void PrintTo(const Emitted& header, std::ostream* out) {
  *out << header.bits << " bits";
}

#define EMITTED(space)                                                                \
  Emitted {                                                                           \
    space::kBits, space::encode, space::decode, space::activation, space::code_bytes, \
        space::forward, space::backward                                               \
  }
const Emitted kWidths[] = {EMITTED(fewbit_gelu_b1), EMITTED(fewbit_gelu_b2),
                           EMITTED(fewbit_gelu_b3), EMITTED(fewbit_gelu_b4),
                           EMITTED(fewbit_gelu_b5), EMITTED(fewbit_gelu_b6),
                           EMITTED(fewbit_gelu_b7), EMITTED(fewbit_gelu_b8)};

/// Bit by bit, knowing nothing but the format's definition.
unsigned read_code(const std::vector<uint8_t>& stream, size_t bits, size_t element) {
  unsigned code = 0;
  for (size_t bit = 0; bit < bits; ++bit) {
    const size_t position = element * bits + bit;
    code |= ((stream[position / 8] >> (position % 8)) & 1u) << bit;
  }
  return code;
}

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

class EmittedWidth : public testing::TestWithParam<Emitted> {
 protected:
  Table table_ = test::ladder(static_cast<int>(GetParam().bits), Form::levels);
};

TEST_P(EmittedWidth, EncodesAsTheTableDoes) {
  expect_codes(GetParam(), table_);
}

TEST_P(EmittedWidth, DecodesEveryCodeAsItsLevel) {
  for (size_t code = 0; code < table_.levels.size(); ++code) {
    EXPECT_EQ(GetParam().decode(static_cast<unsigned>(code)),
              static_cast<float>(table_.levels[code]));
  }
}

TEST_P(EmittedWidth, WritesADenseStreamWithAZeroTail) {
  for (size_t count = 0; count <= 130; ++count) {
    const std::vector<float> x = inputs(count);
    const size_t bytes = GetParam().code_bytes(count);
    ASSERT_EQ(bytes, (count * GetParam().bits + 127) / 128 * 16);
    std::vector<float> y(count);
    std::vector<uint8_t> codes(bytes + 8, 0xa5);
    GetParam().forward(x.data(), y.data(), codes.data(), count);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(read_code(codes, GetParam().bits, i), GetParam().encode(x[i]));
      ASSERT_EQ(y[i], GetParam().activation(x[i]));
    }
    for (size_t bit = count * GetParam().bits; bit < bytes * 8; ++bit) {
      ASSERT_EQ(codes[bit / 8] >> (bit % 8) & 1, 0) << "tail of " << count;
    }
    for (size_t i = bytes; i < codes.size(); ++i) ASSERT_EQ(codes[i], 0xa5) << "past the end";
  }
}

TEST_P(EmittedWidth, BackwardMultipliesByTheLevel) {
  for (size_t count = 0; count <= 130; ++count) {
    const std::vector<float> x = inputs(count);
    std::vector<float> y(count);
    std::vector<float> gradient(count + 1, 1.5f);
    std::vector<uint8_t> codes(GetParam().code_bytes(count));
    GetParam().forward(x.data(), y.data(), codes.data(), count);
    GetParam().backward(gradient.data(), codes.data(), gradient.data(), count);
    for (size_t i = 0; i < count; ++i) {
      const float level = GetParam().decode(read_code(codes, GetParam().bits, i));
      ASSERT_EQ(gradient[i], 1.5f * level);
    }
    ASSERT_EQ(gradient[count], 1.5f) << "past the end";
  }
}

INSTANTIATE_TEST_SUITE_P(OneToEightBits, EmittedWidth, testing::ValuesIn(kWidths),
                         [](const auto& width) { return std::to_string(width.param.bits); });

TEST(EmittedEven, ComparesTheMagnitude) {
  Table table =
      test::make_table("tanh", Form::levels, {0.4, 0.9, 1.7}, {3, 2, 1, 0}, {0.02, 0.3, 0.6, 0.95});
  table.symmetry = solver::Symmetry::even;
  expect_codes(EMITTED(fewbit_tanh_b2), table);
}

TEST(EmittedLevels, MayRepeatACode) {
  expect_codes(EMITTED(fewbit_quick_gelu_b3), test::repeating_levels_b3());
}

TEST(EmittedParameters, AreThoseOfTheTable) {
  EXPECT_NEAR(fewbit_elu_b2::activation(-1.0f), 0.5f * std::expm1(-1.0f), 1e-7f);
  EXPECT_NEAR(fewbit_elu_b2::derivative(-1.0f), 0.5f * std::exp(-1.0f), 1e-7f);
}

TEST(EmittedCode, BeyondTheLevelsDecodesAsTheLast) {
  EXPECT_EQ(fewbit_elu_b2::kLevels, 3u);
  EXPECT_EQ(fewbit_elu_b2::decode(3), 1.0f);
}

}  // namespace

}  // namespace fewbit

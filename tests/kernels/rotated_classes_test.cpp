// Elements that are mapped by their classes on the way: the same as mapped before and behind, bit
// for bit, on every instruction set.
#include "tests/kernels/rotated_support.hpp"
#include "tests/kernels/support.hpp"

namespace fewbit::kernels::rotated_classes_test {

using namespace rotated;

/// Classes of elements as a stream, which ends where its last byte does.
struct Classes {
  std::vector<uint8_t> each;
  std::vector<uint8_t> stream;
  ElementClasses kernels;

  Classes(int64_t count, int bits)
      : each(static_cast<size_t>(count)),
        stream(static_cast<size_t>(code_bytes(count, bits))),
        kernels{nullptr, bits, {}} {
    std::mt19937 engine(static_cast<uint32_t>(bits));
    const int classes = std::min(1 << bits, kMostClasses);
    for (size_t i = 0; i < each.size(); ++i) {
      each[i] = static_cast<uint8_t>(engine() % static_cast<uint32_t>(classes));
      for (int bit = 0; bit < bits; ++bit) {
        const size_t at = i * static_cast<size_t>(bits) + static_cast<size_t>(bit);
        stream[at / 8] = static_cast<uint8_t>(stream[at / 8] | (each[i] >> bit & 1) << at % 8);
      }
    }
    std::normal_distribution<float> draw;
    for (int c = 1; c < classes; ++c) {  // class 0 is 0
      kernels.map.scale[c] = draw(engine);
      kernels.map.shift[c] = draw(engine);
    }
    kernels.codes = stream.data();
  }

  std::vector<double> mapped(const std::vector<double>& x, double limit) const {
    std::vector<double> y(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const float product = static_cast<float>(x[i]) * kernels.map.scale[each[i]];
      y[i] = double{product + kernels.map.shift[each[i]]};
      if (!std::isnan(y[i])) y[i] = std::clamp(y[i], -limit, limit);
    }
    return y;
  }
};

void expect_mapped(ElementType type, int bits, int64_t group, int class_bits,
                   const std::vector<double>& x) {
  const auto count = static_cast<int64_t>(x.size());
  const Classes classes(count, class_bits);
  const std::vector<uint8_t> bytes = bytes_of(type, x);
  RotatedFormat format{type, bits, group, count, {7, 11}};
  RotatedFormat plain = format;
  plain.type = ElementType::f32;
  format.classes = &classes.kernels;
  const std::vector<double> there = classes.mapped(values_of(type, bytes), INFINITY);
  const Kept wanted = encode(plain, bytes_of(ElementType::f32, there));
  EXPECT_EQ(encode(format, bytes), wanted);
  const std::vector<double> back = values_of(ElementType::f32, decode(plain, wanted));
  EXPECT_EQ(decode(format, wanted),
            bytes_of(type, classes.mapped(back, double{finite_limit(type)})));
}

TEST(RotatedClasses, AreMappedOnEveryInstructionSet) {
  for_each_target([](int64_t target) {
    SCOPED_TRACE(hwy::TargetName(target));
    for (const auto type : {ElementType::f32, ElementType::bf16, ElementType::f16}) {
      for (int class_bits = 1; class_bits <= 8; ++class_bits) {
        for (const int64_t group : {64, 256, 1024}) {
          SCOPED_TRACE(testing::Message() << static_cast<int>(type) << ", classes of " << class_bits
                                          << " bits, groups of " << group);
          expect_mapped(type, 2, group, class_bits, normal(3 * group + 17, 1, 2.0, 0.5));
        }
      }
    }
  });
}

TEST(RotatedClasses, AreOfAnyCount) {
  for (int64_t count = 1; count <= 1200; count += count < 140 ? 1 : 53) {
    SCOPED_TRACE(count);
    expect_mapped(ElementType::f32, 3, 256, 3, normal(count, 5));
  }
}

// What squares do not hold, what is constant, and what is no number.
TEST(RotatedClasses, TakeEveryMagnitude) {
  for (const double magnitude : {0.0, 1e-30, 1e20, 1e37}) {
    std::vector<double> x = normal(700, 8);
    for (double& value : x) value *= magnitude;
    expect_mapped(ElementType::f32, 4, 128, 3, x);
  }
  std::vector<double> x = normal(700, 9);
  x[300] = NAN;
  x[600] = INFINITY;
  const Classes classes(700, 2);
  RotatedFormat format{ElementType::f32, 4, 128, 700, {1, 2}};
  format.classes = &classes.kernels;
  const std::vector<double> back = there_and_back(format, x);
  for (size_t i = 0; i < back.size(); ++i) {
    const bool has_none = i / 128 == 300 / 128 || i / 128 == 600 / 128;
    EXPECT_EQ(std::isnan(back[i]), has_none) << i;
  }
}

}  // namespace fewbit::kernels::rotated_classes_test

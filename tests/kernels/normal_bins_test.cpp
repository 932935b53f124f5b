// Codes of norms' inputs by bins: on every instruction set what the definition says, whatever
// numbers the elements share.
#include "kernels/quantizer/normal_bins.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/kernels/inputs.hpp"
#include "tests/kernels/normal_bins.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/floating_point_mode.hpp"

namespace fewbit::kernels::normal_bins_test {

constexpr ElementType kTypes[] = {ElementType::f32, ElementType::bf16, ElementType::f16};

size_t index(const Cycle& cycle, int64_t i) {
  return static_cast<size_t>(i / cycle.run % cycle.count);
}

int code_of(const BinNumbers& of, int bits, float x, int64_t i) {
  const size_t s = index(of.statistics, i), w = index(of.weights, i);
  const float u = (x - of.mean[s]) * of.scale[s] * of.sign[w];
  if (std::isnan(u)) return 0;
  const float steps = 1.0f / of.bins(bits).width;
  const float last = static_cast<float>((1 << bits) - 1);
  const float code = std::clamp(std::floor((u - of.first[w]) * steps), 0.0f, last);
  return static_cast<int>(u >= of.zero[w] ? std::max(code, of.shift[w])
                                          : std::min(code, of.shift[w] - 1.0f));
}

float value_of(const BinNumbers& of, int bits, int code, int64_t i, float largest) {
  const size_t s = index(of.statistics, i), w = index(of.weights, i);
  const float width = of.bins(bits).width, whole = static_cast<float>(code);
  const float middle = (whole + 0.5f) * width + of.first[w];
  const float u = whole >= of.shift[w] ? std::max(middle, of.zero[w] + width * 0.5f)
                                       : std::min(middle, of.zero[w] - width * 0.5f);
  return std::clamp(u * of.sign[w] * of.scale[s] + of.mean[s], -largest, largest);
}

int code_at(const std::vector<uint8_t>& stream, int bits, int64_t i) {
  int code = 0;
  for (int64_t bit = i * bits; bit < (i + 1) * bits; ++bit) {
    code |= (stream[static_cast<size_t>(bit / 8)] >> bit % 8 & 1) << (bit - i * bits);
  }
  return code;
}

std::vector<uint8_t> encoded(const BinNumbers& of, int bits, ElementType type,
                             const std::vector<uint8_t>& x) {
  const int64_t count = static_cast<int64_t>(x.size()) / element_bytes(type);
  std::vector<uint8_t> codes(static_cast<size_t>(code_bytes(count, bits)), 0xFF);
  normal_bins_encode(type, of.bins(bits), x.data(), codes.data(), {0, count, count});
  return codes;
}

/// Against the definition, element by element; what follows the last code is zero.
void expect_definition(const BinNumbers& of, int bits, ElementType type,
                       const std::vector<uint8_t>& x) {
  const std::vector<double> values = elements(x, type);
  const auto count = static_cast<int64_t>(values.size());
  std::vector<double> back;
  for_each_target([&](int64_t target) {
    const std::vector<uint8_t> codes = encoded(of, bits, type, x);
    back.clear();
    for (int64_t i = 0; i < count; ++i) {
      const int code = code_at(codes, bits, i);
      const auto value = static_cast<float>(values[static_cast<size_t>(i)]);
      ASSERT_EQ(code, code_of(of, bits, value, i)) << i << ' ' << hwy::TargetName(target);
      back.push_back(double{value_of(of, bits, code, i, finite_limit(type))});
    }
    for (int64_t bit = count * bits; bit < static_cast<int64_t>(codes.size()) * 8; ++bit) {
      ASSERT_EQ(codes[static_cast<size_t>(bit / 8)] >> bit % 8 & 1, 0) << bit;
    }
    std::vector<uint8_t> decoded(x.size(), 0xAB);
    normal_bins_decode(type, of.bins(bits), codes.data(), decoded.data(), {0, count, count});
    ASSERT_EQ(decoded, bytes_of(back, type)) << type_name(type) << hwy::TargetName(target);
  });
}

TEST(NormalBins, AreWhatTheDefinitionSaysForEveryCycle) {
  std::vector<double> x = normal_inputs(4321, 3);
  for (double& value : x) value *= 2.0;
  for (const Cycle& statistics : kCycles) {
    for (const Cycle& weights : kCycles) {
      for (const int bits : {1, 2, 3, 4, 8}) {
        expect_definition({statistics, weights, bits}, bits, ElementType::f32,
                          bytes_of(x, ElementType::f32));
      }
    }
  }
}

TEST(NormalBins, AreWhatTheDefinitionSaysForEveryTypeAndWidth) {
  for (const ElementType type : kTypes) {
    for (int bits = 1; bits <= 8; ++bits) {
      expect_definition({{49, 6}, {1, 24}, bits}, bits, type,
                        bytes_of(normal_inputs(2000, 4), type));
    }
  }
}

TEST(NormalBins, TakeAll16BitInputsAndWhatIsNoNumber) {
  for (const ElementType type : {ElementType::bf16, ElementType::f16}) {
    expect_definition({{1200, 3}, {1, 24}, 4}, 4, type, every_half());
  }
  const std::vector<double> x = {NAN, INFINITY, -INFINITY, 3e38, -3e38, 1e-45, 0.0, -0.0, -NAN};
  expect_definition({{1, 1}, {1, 1}, 2}, 2, ElementType::f32, bytes_of(x, ElementType::f32));
}

TEST(NormalBins, AreRightForEveryCount) {
  const std::vector<double> all = normal_inputs(1100, 6);
  for (size_t count = 1; count <= all.size(); count += count < 140 ? 1 : 37) {
    const std::vector<double> x(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
    expect_definition({{77, 5}, {3, 1000}, 3}, 3, ElementType::f32, bytes_of(x, ElementType::f32));
  }
}

TEST(NormalBins, DecodeAChannelWhoseMeanIsNoNumberToNone) {
  BinNumbers of({100, 2}, {1, 1}, 2);
  of.mean[1] = NAN;
  const std::vector<uint8_t> x = bytes_of(normal_inputs(200, 5), ElementType::f32);
  for_each_target([&](int64_t target) {
    std::vector<uint8_t> back(x.size());
    normal_bins_decode(ElementType::f32, of.bins(2), encoded(of, 2, ElementType::f32, x).data(),
                       back.data(), {0, 200, 200});
    const std::vector<double> values = elements(back, ElementType::f32);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(std::isnan(values[i]), i >= 100) << i << ' ' << hwy::TargetName(target);
    }
  });
}

TEST(NormalBins, DoNotDependOnTheSplitIntoRangesNorOnTheirOrderNorOnTheMode) {
  constexpr int64_t kCount = 10 * kBlock + 77;
  const BinNumbers of({1200, 3}, {1, 700}, 3);
  for (const ElementType type : kTypes) {
    const std::vector<uint8_t> x = bytes_of(normal_inputs(kCount, 9), type);
    const std::vector<uint8_t> wanted = encoded(of, 3, type, x);
    std::vector<uint8_t> whole(x.size());
    normal_bins_decode(type, of.bins(3), wanted.data(), whole.data(), {0, kCount, kCount});
    const int64_t borders[] = {0, kBlock, 2 * kBlock, 7 * kBlock, 10 * kBlock, kCount};
    test::for_each_mode([&](const test::FloatingPointMode& mode) {
      const test::InMode in(mode);
      std::vector<uint8_t> codes(wanted.size(), 0xFF);
      std::vector<uint8_t> back(x.size());
      for (const int part : {3, 0, 4, 2, 1}) {
        const Range range{borders[part], borders[part + 1], kCount};
        normal_bins_encode(type, of.bins(3), x.data(), codes.data(), range);
        normal_bins_decode(type, of.bins(3), wanted.data(), back.data(), range);
      }
      EXPECT_EQ(codes, wanted) << mode.name;
      EXPECT_EQ(back, whole) << mode.name;
    });
  }
}

}  // namespace fewbit::kernels::normal_bins_test

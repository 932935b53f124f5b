#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/floating_point_mode.hpp"
#include "kernels/quantizer/cpu/wide_element.hpp"
#include "kernels/quantizer/extremes.hpp"

namespace fewbit::kernels {

namespace {

/// Elements of a sample by the exponents of doubles.
struct Sample {
  static constexpr int kExponents = 2048;
  static constexpr int64_t kMost = 512;

  double x[kMost];
  int exponent[kMost];
  int count = 0;  ///< without zeros and what is not finite
  uint16_t with_exponent[kExponents] = {};
  int greatest = 0;  ///< exponent

  Sample(ElementType type, const void* from, int64_t elements) {
    const int64_t wanted = std::min(std::clamp<int64_t>(elements / 128, 64, kMost), elements);
    const int64_t step = elements / wanted;
    uint64_t state = 0x9E3779B97F4A7C15u;
    for (int64_t i = 0; i < wanted; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const auto within = static_cast<int64_t>((state >> 33) % static_cast<uint64_t>(step));
      add(wide_element(type, from, i * step + within));
    }
  }

  /// Between the greater elements and the smaller ones: the exponents next to it.
  struct Gap {
    int above;
    int below;
    int greater;  ///< so many elements
  };

  std::optional<Gap> gap() const {
    constexpr int kEmpty = 3;
    const int share = std::max(count / 32, 2);
    int passed = 0;
    int last = kExponents;
    for (int e = greatest; count - passed >= share; --e) {
      if (with_exponent[e] == 0) continue;
      if (passed >= share && last - e > kEmpty) return Gap{last, e, passed};
      passed += with_exponent[e];
      last = e;
    }
    return std::nullopt;
  }

  struct Near {
    int count;
    double mean;  ///< the value itself where all are that
  };

  Near near(double value, double distance) const {
    int found = 0;
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
      const double rest = x[i] - value;
      if (std::fabs(rest) > distance) continue;
      ++found;
      sum += rest;
    }
    return {found, value + sum / std::max(found, 1)};
  }

 private:
  void add(double value) {
    const auto e = static_cast<int>(std::bit_cast<uint64_t>(value) >> 52 & 0x7FF);
    if (e == 0 || e == kExponents - 1) return;
    greatest = std::max(greatest, e);
    x[count] = value;
    exponent[count++] = e;
    ++with_exponent[e];
  }
};

}  // namespace

std::optional<Fill> find_fill(ElementType type, const void* x, int64_t count) {
  if (count < kFewestNeighbours) return std::nullopt;
  const DefaultFloatingPoint arithmetic;
  const Sample sample(type, x, count);
  const std::optional<Sample::Gap> gap = sample.gap();
  if (!gap) return std::nullopt;
  const double near = std::ldexp(1.0, gap->below - 1023 + 2);  // from one of the smaller to another
  constexpr int kTried = 8;
  std::optional<Fill> fill;
  int most = std::max(gap->greater / 4, 2) - 1;
  for (int i = 0, tried = 0; i < sample.count && tried < kTried; ++i) {
    if (sample.exponent[i] < gap->above) continue;
    ++tried;
    const Sample::Near found = sample.near(sample.x[i], near);
    if (found.count <= most) continue;
    most = found.count;
    fill = Fill{found.mean, near};
  }
  return fill;
}

}  // namespace fewbit::kernels

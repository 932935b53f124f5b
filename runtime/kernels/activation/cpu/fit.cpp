#include "kernels/activation/cpu/fit.hpp"

#include "kernels/half.hpp"

namespace fewbit::kernels {

namespace {

/// A kink, or where one begins that arithmetic blurs, and the floats on both sides.
void add_beside(double kink, std::vector<float>& points) {
  const int place = place_of(static_cast<float>(kink));
  for (const int distance : {0, 1, 2, 3, 1 << 8, 1 << 12, 1 << 15}) {
    for (const int side : {place - distance, place + distance}) points.push_back(float_at(side));
  }
}

}  // namespace

std::vector<float> telling_points(std::span<const double> kinks) {
  constexpr int kInfinity = 0x7F800000;
  constexpr int kBinade = 1 << 23;
  constexpr int kInBinade = 64;
  constexpr int kNear = 128;     // up to here
  constexpr int kSpacing = 128;  // so many in a unit, about: not at numbers of few digits alone
  std::vector<float> points = {0.0f, -0.0f, INFINITY, -INFINITY};
  for (int first = 0; first < kInfinity; first += kBinade) {
    for (int i = 0; i < kInBinade; ++i) {
      const auto within = static_cast<int>(int64_t{kBinade - 1} * i / (kInBinade - 1));
      points.push_back(float_at(first + within));
      points.push_back(float_at(-first - within));
    }
  }
  for (int i = -kNear * kSpacing; i <= kNear * kSpacing; ++i) {
    points.push_back(static_cast<float>(i) * (1.001f / kSpacing));
  }
  for (const double kink : kinks) add_beside(kink, points);
  return points;
}

}  // namespace fewbit::kernels

// Coefficients of directions are the sums that low_rank.hpp says, and what lies along directions is
// taken off and put back on the way: the same as before and behind, bit for bit, on every
// instruction set.
#include "kernels/quantizer/low_rank.hpp"

#include "tests/kernels/rotated_support.hpp"
#include "tests/kernels/support.hpp"

namespace fewbit::kernels::low_rank_test {

using namespace rotated;

/// Directions and coefficients of a run of whole blocks.
struct Part {
  ChannelPlace place;
  int count;
  int64_t stride;
  std::vector<float> basis, coefficients;

  Part(const ChannelPlace& where, int directions, int64_t blocks)
      : place(where), count(directions), stride((where.channels + 15) / 16 * 16) {
    std::mt19937 engine(3);
    std::normal_distribution<float> draw(0.0f, 0.3f);
    basis.resize(static_cast<size_t>(count * stride));
    for (int j = 0; j < count; ++j) {
      for (int64_t c = 0; c < place.channels; ++c) basis[at(j * stride + c)] = draw(engine);
    }
    coefficients.resize(static_cast<size_t>(blocks * count * place.inner));
    for (float& one : coefficients) one = draw(engine);
  }

  static size_t at(int64_t i) { return static_cast<size_t>(i); }
  Directions directions() const { return {place, count, stride, basis.data()}; }
  LowRank low_rank(int64_t first = 0) const { return {directions(), coefficients.data(), first}; }
  int64_t coefficient(int64_t block, int j, int64_t i) const {
    return (block * count + j) * place.inner + i;
  }
  float of_element(int64_t e) const {
    const int64_t block = e / place.block(), channel = e / place.inner % place.channels;
    float sum = 0.0f;
    for (int j = 0; j < count; ++j) {
      sum = std::fma(coefficients[at(coefficient(block, j, e % place.inner))],
                     basis[at(j * stride + channel)], sum);
    }
    return sum;
  }
  /// By the book.
  float projected(const std::vector<double>& x, int64_t block, int j, int64_t i) const {
    float sums[kDotSums] = {};
    for (int64_t c = 0; c < place.channels; ++c) {
      const auto value = static_cast<float>(x[at((block * place.channels + c) * place.inner + i)]);
      float& sum = sums[place.inner == 1 ? c % kDotSums : 0];
      sum = std::fma(value, basis[at(j * stride + c)], sum);
    }
    for (int distance = kDotSums / 2; place.inner == 1 && distance > 0; distance /= 2) {
      for (int k = 0; k < distance; ++k) sums[k] += sums[k + distance];
    }
    return std::isfinite(sums[0]) ? sums[0] : 0.0f;
  }
};

constexpr ChannelPlace kPlaces[] = {{1, 1},  {5, 1},  {64, 1},  {100, 1}, {1000, 1}, {7, 2},
                                    {3, 49}, {64, 9}, {33, 64}, {2, 300}, {130, 17}};

void expect_projections(ElementType type, const ChannelPlace& place, int count) {
  constexpr int64_t kBlocks = 3;
  const Part part(place, count, kBlocks);
  std::vector<double> x = normal(kBlocks * place.block(), 4);
  if (x.size() > 20) x[x.size() / 3] = INFINITY;
  const std::vector<uint8_t> bytes = bytes_of(type, x);
  x = values_of(type, bytes);
  std::vector<float> made(static_cast<size_t>(kBlocks * count * place.inner), NAN);
  const int64_t rows = kBlocks * project_pieces(place.inner);
  low_rank_project(type, bytes.data(), part.directions(), made.data(), 0, 1);
  low_rank_project(type, bytes.data(), part.directions(), made.data(), 1, rows);
  for (int64_t block = 0; block < kBlocks; ++block) {
    for (int j = 0; j < count; ++j) {
      for (int64_t i = 0; i < place.inner; ++i) {
        ASSERT_EQ(made[Part::at(part.coefficient(block, j, i))], part.projected(x, block, j, i))
            << block << ' ' << j << ' ' << i;
      }
    }
  }
}

TEST(LowRank, ProjectsInOneOrderOnEveryInstructionSet) {
  for_each_target([](int64_t target) {
    for (const auto type : {ElementType::f32, ElementType::bf16, ElementType::f16}) {
      for (const ChannelPlace& place : kPlaces) {
        for (const int count : {1, 3, 4, 5, 16}) {
          SCOPED_TRACE(testing::Message()
                       << hwy::TargetName(target) << ' ' << static_cast<int>(type) << ", "
                       << place.channels << " x " << place.inner << ", " << count);
          expect_projections(type, place, count);
        }
      }
    }
  });
}

void expect_taken(ElementType type, int bits, int64_t group, const Part& part, int64_t first,
                  std::vector<double> x) {
  const auto count = static_cast<int64_t>(x.size());
  const LowRank low_rank = part.low_rank(first);
  RotatedFormat format{type, bits, group, count, {7, 11}};
  RotatedFormat plain = format;
  plain.type = ElementType::f32;
  format.low_rank = &low_rank;
  const std::vector<uint8_t> bytes = bytes_of(type, x);
  x = values_of(type, bytes);
  for (int64_t i = 0; i < count; ++i) {
    x[Part::at(i)] = double{static_cast<float>(x[Part::at(i)]) - part.of_element(first + i)};
  }
  const Kept wanted = encode(plain, bytes_of(ElementType::f32, x));
  EXPECT_EQ(encode(format, bytes), wanted);
  std::vector<double> back = values_of(ElementType::f32, decode(plain, wanted));
  const double limit = finite_limit(type);
  for (int64_t i = 0; i < count; ++i) {
    double& value = back[Part::at(i)];
    value = double{static_cast<float>(value) + part.of_element(first + i)};
    if (!std::isnan(value)) value = std::clamp(value, -limit, limit);
  }
  EXPECT_EQ(decode(format, wanted), bytes_of(type, back));
}

TEST(LowRank, IsTakenAndPutBackOnEveryInstructionSet) {
  for_each_target([](int64_t target) {
    for (const auto type : {ElementType::f32, ElementType::bf16, ElementType::f16}) {
      for (const ChannelPlace& place : kPlaces) {
        for (const int count : {1, 4, 16}) {
          SCOPED_TRACE(testing::Message()
                       << hwy::TargetName(target) << ' ' << static_cast<int>(type) << ", "
                       << place.channels << " x " << place.inner << ", " << count);
          const int64_t blocks = 1300 / place.block() + 2;
          const Part part(place, count, blocks);
          const int64_t first = place.block() / 3;
          expect_taken(type, 2, 256, part, 0, normal((blocks - 1) * place.block(), 1, 2.0, 0.5));
          expect_taken(type, 3, 64, part, first, normal((blocks - 1) * place.block(), 2));
        }
      }
    }
  });
}

// What squares do not hold, what is constant, and what is no number.
TEST(LowRank, TakesEveryMagnitude) {
  Part part({20, 1}, 4, 40);
  for (const double magnitude : {0.0, 1e-30, 1e20, 1e37}) {
    std::vector<double> x = normal(700, 8);
    for (double& value : x) value *= magnitude;
    expect_taken(ElementType::f32, 4, 128, part, 0, x);
  }
  std::fill(part.coefficients.begin(), part.coefficients.end(), 0.0f);
  std::vector<double> x = normal(700, 9);
  x[300] = NAN;
  x[600] = INFINITY;
  const LowRank low_rank = part.low_rank();
  RotatedFormat format{ElementType::f32, 4, 128, 700, {1, 2}};
  format.low_rank = &low_rank;
  const std::vector<double> back = there_and_back(format, x);
  for (size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(std::isnan(back[i]), i / 128 == 300 / 128 || i / 128 == 600 / 128) << i;
  }
}

}  // namespace fewbit::kernels::low_rank_test

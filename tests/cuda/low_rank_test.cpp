// What lies in few directions of channels, on the device: the CPU kernels' coefficients, rests and
// sums, bit for bit.
#include "kernels/quantizer/cuda/low_rank.hpp"

#include <bit>
#include <random>

#include <gtest/gtest.h>

#include "kernels/quantizer/rotated.hpp"
#include "tests/cuda/quantizer.hpp"

namespace fewbit::kernels::cuda::low_rank_test {

using Bytes = std::vector<uint8_t>;
using Floats = std::vector<float>;

constexpr ElementType kTypes[] = {ElementType::f32, ElementType::bf16, ElementType::f16};

std::vector<uint32_t> bits_of_all(const Floats& all) {
  std::vector<uint32_t> words;
  for (const float value : all) words.push_back(std::bit_cast<uint32_t>(value));
  return words;
}

/// A basis as it is kept, and the same in floats.
struct Basis {
  ChannelPlace place;
  int count;
  int64_t stride;
  Bytes kept;
  Floats floats;

  Basis(const ChannelPlace& where, int directions)
      : place(where), count(directions), stride((where.channels + 15) / 16 * 16) {
    std::mt19937 engine(3);
    std::uniform_int_distribution<int> draw(0, 0x7E);
    kept.resize(static_cast<size_t>(count * stride));
    floats.resize(kept.size());
    for (int64_t i = 0; i < count * stride; ++i) {
      if (i % stride >= place.channels) continue;
      const auto at = static_cast<size_t>(i);
      kept[at] = static_cast<uint8_t>(draw(engine) | (i % 2) << 7);
      floats[at] = basis_value(kept[at]);
    }
  }

  Directions of_cpu() const { return {place, count, stride, floats.data()}; }
  DeviceDirections of_device() const { return {place, count, stride, kept.data()}; }
};

/// Eight bits: of the rest's codes, those of the CPU's pass over elements.
void expect_the_cpus(ElementType type, const ChannelPlace& place, int count, int64_t outer,
                     std::vector<double> x) {
  SCOPED_TRACE(::testing::Message() << type_name(type) << ", " << place.channels << " x "
                                    << place.inner << ", " << count << " directions, " << outer);
  const Basis basis(place, count);
  const int64_t elements = outer * place.block();
  x.resize(static_cast<size_t>(elements));
  const Bytes bytes = bytes_of(x, type);
  Floats expected(static_cast<size_t>(outer * count * place.inner)), made(expected);
  kernels::low_rank_project(type, bytes.data(), basis.of_cpu(), expected.data(), 0,
                            outer * project_pieces(place.inner));
  ASSERT_EQ(low_rank_project(type, bytes.data(), basis.of_device(), outer, made.data(), nullptr),
            cudaSuccess);
  EXPECT_EQ(bits_of_all(made), bits_of_all(expected));

  const int64_t first = elements / 3;
  const int64_t left = elements - first;
  const auto* const from = bytes.data() + first * element_bytes(type);
  Floats rest(static_cast<size_t>(left));
  const DeviceLowRank on_device{basis.of_device(), made.data(), first};
  ASSERT_EQ(low_rank_take(type, from, on_device, left, rest.data(), nullptr), cudaSuccess);
  const LowRank on_cpu{basis.of_cpu(), expected.data(), first};
  RotatedFormat format{type, 8, 64, left, {1, 2}};
  RotatedFormat plain = format;
  plain.type = ElementType::f32;
  format.low_rank = &on_cpu;
  const auto coded = static_cast<size_t>(code_bytes(format.coded_elements(), 8));
  const auto constant = static_cast<size_t>(format.groups() * format.constant_bytes_of_group());
  Coded whole{Bytes(coded), Bytes(constant)}, of_rest(whole);
  const GroupRange all{0, format.groups()};
  kernels::rotated_encode(format, from, whole.codes.data(), whole.constants.data(), all);
  kernels::rotated_encode(plain, rest.data(), of_rest.codes.data(), of_rest.constants.data(), all);
  EXPECT_EQ(of_rest.codes, whole.codes);
  EXPECT_EQ(of_rest.constants, whole.constants);

  Bytes wanted(static_cast<size_t>(left * element_bytes(type))), back(wanted);
  kernels::rotated_decode(format, whole.codes.data(), whole.constants.data(), wanted.data(), all);
  kernels::rotated_decode(plain, whole.codes.data(), whole.constants.data(), rest.data(), all);
  ASSERT_EQ(low_rank_put_back(type, rest.data(), on_device, left, back.data(), nullptr),
            cudaSuccess);
  EXPECT_EQ(back, wanted);
}

constexpr ChannelPlace kPlaces[] = {{1, 1}, {5, 1},  {64, 1},  {100, 1},
                                    {7, 2}, {3, 49}, {33, 64}, {130, 17}};

TEST(CudaLowRank, IsTheCpusWhereverChannelsLie) {
  const std::vector<double> x = normal_inputs(33 * 64 * 3, 3);
  for (const ElementType type : kTypes) {
    for (const ChannelPlace& place : kPlaces) {
      for (const int count : {1, 4, 7, 16}) expect_the_cpus(type, place, count, 3, x);
    }
  }
}

TEST(CudaLowRank, IsTheCpusForEveryMagnitude) {
  for (const ElementType type : kTypes) {
    expect_the_cpus(type, {64, 1}, 4, 25, odd_groups(64, 64 * 25));
    for (const double scale : scales_of(type)) {
      expect_the_cpus(type, {48, 1}, 3, 20, scaled_inputs(48 * 20, scale));
    }
  }
}

TEST(CudaLowRank, HasNothingToDoForNothing) {
  const Basis basis({8, 1}, 2);
  EXPECT_EQ(low_rank_project(ElementType::f32, nullptr, basis.of_device(), 0, nullptr, nullptr),
            cudaSuccess);
  const DeviceLowRank none{basis.of_device(), nullptr, 0};
  EXPECT_EQ(low_rank_take(ElementType::f32, nullptr, none, 0, nullptr, nullptr), cudaSuccess);
  EXPECT_EQ(low_rank_put_back(ElementType::f32, nullptr, none, 0, nullptr, nullptr), cudaSuccess);
}

}  // namespace fewbit::kernels::cuda::low_rank_test

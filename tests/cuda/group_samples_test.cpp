// Samples with bits of their own on the device: the CPU kernels' codes, constants and decoded
// values, bit for bit.
#include <gtest/gtest.h>

#include "kernels/quantizer/cuda/group.hpp"
#include "tests/cuda/quantizer.hpp"

namespace fewbit::kernels::cuda::group_samples_test {

using Bytes = std::vector<uint8_t>;

constexpr Rounding kRoundings[] = {Rounding::nearest, Rounding::stochastic, Rounding::dithered,
                                   Rounding::squares};

/// Samples of `count` elements with every width in turn.
struct Batch {
  Bytes bits;
  int64_t count;
  std::vector<int64_t> offsets;

  Batch(int64_t number, int64_t elements) : count(elements) {
    constexpr uint8_t kOrder[] = {3, 8, 1, 5, 2, 7, 4, 6};
    for (int64_t i = 0; i < number; ++i) bits.push_back(kOrder[i % 8]);
    offsets = code_offsets(bits.data(), number, count);
  }
  Samples samples() const {
    return {bits.data(), offsets.data(), static_cast<int64_t>(bits.size()), count};
  }
  int64_t elements() const { return static_cast<int64_t>(bits.size()) * count; }
  size_t constants(const GroupFormat& format) const {
    return bits.size() *
           static_cast<size_t>(group_count(count, format.group) * constant_bytes(format.type));
  }
};

Coded cpu_encode(const GroupFormat& format, const Batch& batch, const Bytes& x) {
  Coded coded{Bytes(static_cast<size_t>(batch.offsets.back()), 0xFF),
              Bytes(batch.constants(format))};
  kernels::group_encode_samples(format, batch.samples(), x.data(), coded.codes.data(),
                                coded.constants.data(), 0,
                                part_count(batch.samples(), format.group));
  return coded;
}

Bytes cpu_decode(const GroupFormat& format, const Batch& batch, const Coded& coded) {
  Bytes x(static_cast<size_t>(batch.elements() * element_bytes(format.type)));
  kernels::group_decode_samples(format, batch.samples(), coded.codes.data(), coded.constants.data(),
                                x.data(), 0, part_count(batch.samples(), format.group));
  return x;
}

/// All memory `offset` elements off an alignment of 16, codes as many bytes.
Coded encode(const GroupFormat& format, const Batch& batch, const Bytes& x, size_t offset) {
  Guarded in = guarded(x, offset * static_cast<size_t>(element_bytes(format.type)));
  Guarded codes(static_cast<size_t>(batch.offsets.back()), offset);
  Guarded constants(batch.constants(format), 8 * offset);
  EXPECT_EQ(
      group_encode_samples(format, {&format.random.seed, format.random.offset}, batch.samples(),
                           in.data(), codes.data(), constants.data(), nullptr),
      cudaSuccess);
  EXPECT_TRUE(in.is_intact() && codes.is_intact() && constants.is_intact());
  return {codes.content(), constants.content()};
}

Bytes decode(const GroupFormat& format, const Batch& batch, const Coded& coded, size_t offset) {
  const auto size = static_cast<size_t>(element_bytes(format.type));
  Guarded codes = guarded(coded.codes, offset);
  Guarded constants = guarded(coded.constants, 8 * offset);
  Guarded out(static_cast<size_t>(batch.elements()) * size, offset * size);
  EXPECT_EQ(
      group_decode_samples(format, {&format.random.seed, format.random.offset}, batch.samples(),
                           codes.data(), constants.data(), out.data(), nullptr),
      cudaSuccess);
  EXPECT_TRUE(codes.is_intact() && constants.is_intact() && out.is_intact());
  return out.content();
}

void expect_the_cpus(ElementType type, int64_t group, Rounding rounding, const Batch& batch,
                     size_t offset) {
  const GroupFormat format{type, 0, group, rounding, {0x123456789ABCDEFull, 0xFEDCBA987ull}};
  const Bytes x = bytes_of(odd_groups(group, batch.elements()), type);
  const Coded expected = cpu_encode(format, batch, x);
  const auto what = [&] {
    return ::testing::Message() << type_name(type) << ", groups of " << group << ", rounding "
                                << static_cast<int>(rounding) << ", " << batch.bits.size() << " of "
                                << batch.count << " elements, offset " << offset;
  };
  const Coded coded = encode(format, batch, x, offset);
  ASSERT_EQ(coded.constants, expected.constants) << what();
  ASSERT_EQ(coded.codes, expected.codes) << what();
  ASSERT_EQ(decode(format, batch, expected, offset), cpu_decode(format, batch, expected)) << what();
}

TEST(CudaGroupSamples, AreTheCpusForEveryTypeGroupRoundingAndAlignment) {
  for (const ElementType type : kTypes) {
    for (const int64_t group : kGroups) {
      for (const Rounding rounding : kRoundings) {
        expect_the_cpus(type, group, rounding, {9, group + 43}, group == 256 ? 1 : 0);
      }
    }
  }
}

TEST(CudaGroupSamples, AreTheCpusForEverySizeOfASample) {
  size_t turn = 0;
  for (const ElementType type : kTypes) {
    for (const int64_t count : {1, 7, 64, 65, 1024, 1025, 8192, 8192 + 300}) {
      const Batch batch(count > 4096 ? 3 : 9, count);
      expect_the_cpus(type, 64, kRoundings[turn % 4], batch, turn % 2);
      ++turn;
    }
  }
}

// Rows of a grid end at 65,535. Of each launch the last samples alone are run here.
TEST(CudaGroupSamples, AreTheCpusForMoreSamplesThanALaunchTakes) {
  constexpr size_t kRun = 12, kLaunch = 65'535;
  const GroupFormat format{ElementType::bf16, 0, 64, Rounding::stochastic, {1, 2}};
  const Batch batch(kLaunch + 9, 3);
  const Bytes x = bytes_of(odd_groups(64, batch.elements()), ElementType::bf16);
  const Coded expected = cpu_encode(format, batch, x);
  const Bytes values = cpu_decode(format, batch, expected);
  emulator::last_blocks = kRun;
  const Coded coded = encode(format, batch, x, 0);
  const Bytes decoded = decode(format, batch, expected, 0);
  emulator::last_blocks = 0;
  const auto expect_the_end = [&](const Bytes& found, const Bytes& all, int64_t skipped) {
    const auto from = static_cast<std::ptrdiff_t>(skipped);
    EXPECT_TRUE(std::equal(all.begin() + from, all.end(), found.begin() + from, found.end()));
  };
  const auto first = static_cast<int64_t>(kLaunch - kRun);
  expect_the_end(coded.codes, expected.codes, batch.offsets[kLaunch - kRun]);
  expect_the_end(coded.constants, expected.constants, first * constant_bytes(ElementType::bf16));
  expect_the_end(decoded, values, first * batch.count * element_bytes(ElementType::bf16));
  EXPECT_NE(coded.codes, expected.codes);  // those before were not run
}

TEST(CudaGroupSamples, HaveNothingToDoWithoutElements) {
  const GroupFormat format{ElementType::f32, 0, 64, Rounding::nearest};
  for (const Batch& batch : {Batch(0, 100), Batch(3, 0)}) {
    EXPECT_EQ(group_encode_samples(format, {}, batch.samples(), nullptr, nullptr, nullptr, nullptr),
              cudaSuccess);
    EXPECT_EQ(group_decode_samples(format, {}, batch.samples(), nullptr, nullptr, nullptr, nullptr),
              cudaSuccess);
  }
}

}  // namespace fewbit::kernels::cuda::group_samples_test

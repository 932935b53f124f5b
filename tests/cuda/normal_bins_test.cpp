// Bins of norms' inputs on the device: the CPU kernels' codes and elements, bit for bit.
#include "kernels/quantizer/cuda/normal_bins.hpp"

#include <gtest/gtest.h>

#include "tests/cuda/support.hpp"
#include "tests/kernels/normal_bins.hpp"

namespace fewbit::kernels::cuda::normal_bins_test {

using Bytes = std::vector<uint8_t>;

constexpr ElementType kTypes[] = {ElementType::f32, ElementType::bf16, ElementType::f16};

void expect_the_cpus(const BinNumbers& numbers, int bits, ElementType type, const Bytes& x,
                     size_t offset = 0) {
  const int64_t count = static_cast<int64_t>(x.size()) / element_bytes(type);
  const auto size = static_cast<size_t>(code_bytes(count, bits));
  const NormalBins bins = numbers.bins(bits);
  SCOPED_TRACE(::testing::Message()
               << type_name(type) << ", " << bits << " bits, " << count << " elements, offset "
               << offset << ", runs of " << bins.statistics.run << " and " << bins.weights.run);
  Bytes expected(size, 0xFF), back(x.size());
  kernels::normal_bins_encode(type, bins, x.data(), expected.data(), {0, count, count});
  kernels::normal_bins_decode(type, bins, expected.data(), back.data(), {0, count, count});
  const size_t bytes_off = offset * static_cast<size_t>(element_bytes(type));
  Guarded in = guarded(x, bytes_off), codes(size, offset), out(x.size(), bytes_off);
  ASSERT_EQ(normal_bins_encode(type, bins, in.data(), codes.data(), count, nullptr), cudaSuccess);
  ASSERT_EQ(codes.content(), expected);
  ASSERT_EQ(normal_bins_decode(type, bins, codes.data(), out.data(), count, nullptr), cudaSuccess);
  ASSERT_EQ(out.content(), back);
  ASSERT_TRUE(in.is_intact() && codes.is_intact() && out.is_intact());
}

TEST(CudaNormalBins, AreTheCpusForEveryCycle) {
  const Bytes x = bytes_of(normal_inputs(9000, 3), ElementType::f32);
  for (const Cycle& statistics : kCycles) {
    for (const Cycle& weights : kCycles) {
      expect_the_cpus({statistics, weights, 3}, 3, ElementType::f32, x);
    }
  }
}

TEST(CudaNormalBins, AreTheCpusForEveryTypeWidthCountAndAlignment) {
  for (const ElementType type : kTypes) {
    for (int bits = 1; bits <= 8; ++bits) {
      for (const int64_t count : {1, 7, 33, 1023, 1024, 1025, 8192 + 77}) {
        for (const size_t offset : {0, 1}) {
          expect_the_cpus({{49, 6}, {3, 1000}, bits}, bits, type,
                          bytes_of(normal_inputs(count, 4), type), offset);
        }
      }
    }
  }
}

TEST(CudaNormalBins, TakeAll16BitInputsAndWhatIsNoNumber) {
  for (const ElementType type : {ElementType::bf16, ElementType::f16}) {
    expect_the_cpus({{1200, 3}, {1, 24}, 4}, 4, type, every_half());
  }
  const std::vector<double> x = {NAN, INFINITY, -INFINITY, 3e38, -3e38, 1e-45, 0.0, -0.0, -NAN};
  BinNumbers numbers({3, 3}, {1, 1}, 2);
  for (const double mean : {0.0, 1e38, double{NAN}, -double{NAN}, double{INFINITY}}) {
    numbers.mean[1] = static_cast<float>(mean);
    for (const ElementType type : kTypes) expect_the_cpus(numbers, 2, type, bytes_of(x, type));
  }
}

TEST(CudaNormalBins, AreTheCpusFarFromTheBeginningOfACycle) {
  const Bytes x = bytes_of(normal_inputs(40'000, 5), ElementType::bf16);
  for (const Cycle& cycle :
       {Cycle{1, 1'000'000}, {1023, 7}, {1024, 7}, {1025, 1023}, {30'000, 2}}) {
    expect_the_cpus({cycle, {1, 1023}, 2}, 2, ElementType::bf16, x);
  }
}

}  // namespace fewbit::kernels::cuda::normal_bins_test

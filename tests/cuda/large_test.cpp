// More elements than 32 bits count: the last blocks of a launch over memory of which only the end
// is ever touched.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "kernels/quantizer/cuda/group.hpp"
#include "kernels/quantizer/cuda/integers.hpp"
#include "kernels/quantizer/cuda/rotated.hpp"
#include "tests/cuda/support.hpp"

namespace fewbit::kernels::cuda::large_test {

constexpr int64_t kCount = (int64_t{1} << 32) + 17;
/// What is looked at, from a multiple of every block on.
constexpr int64_t kBegin = (int64_t{1} << 32) - 2 * 8192;

/// Addresses that become memory, zeros, where they are used.
class Sparse {
 public:
  explicit Sparse(int64_t bytes)
      : bytes_(static_cast<size_t>(bytes)),
        at_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (at_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Sparse() { munmap(at_, bytes_); }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;

  uint8_t* data() { return static_cast<uint8_t*>(at_); }

  std::vector<uint8_t> end(int64_t bytes) { return {data() + bytes_ - bytes, data() + bytes_}; }

 private:
  size_t bytes_;
  void* at_;
};

/// Runs `body` with the blocks from about kBegin on only: those of doubles have 256 elements.
template <class Body>
void with_the_last_blocks(ElementType type, const Body& body) {
  emulator::last_blocks = type == ElementType::f64 ? 128 : 3;
  body();
  emulator::last_blocks = 0;
}

void fill_the_end(Sparse& memory, ElementType type, uint32_t seed) {
  const auto values = bytes_of(normal_inputs(kCount - kBegin, seed), type);
  std::copy(values.begin(), values.end(), memory.data() + kBegin * element_bytes(type));
}

void expect_the_cpus_end(ElementType type, int thresholds) {
  const SyntheticTable table(3, thresholds, 1);
  const int64_t size = element_bytes(type);
  Sparse x(kCount * size), y(kCount * size), dx(kCount * size), expected_dx(kCount * size);
  Sparse codes(code_bytes(kCount, 3)), expected(code_bytes(kCount, 3));
  fill_the_end(x, type, 5);
  const Range range = {kBegin, kCount, kCount};
  kernels::activation_forward(*kernels::find_activation("relu"), nullptr, table.view(), type,
                              x.data(), y.data(), expected.data(), range);
  kernels::activation_backward(table.view(), type, x.data(), expected.data(), expected_dx.data(),
                               range);
  with_the_last_blocks(type, [&] {
    ASSERT_EQ(activation_forward(*find_activation("relu"), nullptr, table.view(), type, x.data(),
                                 y.data(), codes.data(), kCount, nullptr),
              cudaSuccess);
    ASSERT_EQ(activation_backward(table.view(), type, x.data(), expected.data(), dx.data(), kCount,
                                  nullptr),
              cudaSuccess);
  });
  // Bisection of doubles runs a warp's tile, their values 256 elements a block.
  const int64_t shown = kCount - kBegin - 8192;
  EXPECT_EQ(codes.end(shown / 8 * 3), expected.end(shown / 8 * 3)) << type_name(type);
  EXPECT_EQ(dx.end(shown * size), expected_dx.end(shown * size)) << type_name(type);
}

TEST(CudaLarge, FindsTheCpusCodesAndGradientsBeyond32Bits) {
  for (const ElementType type : kTypes) {
    for (const int thresholds : {9, 300}) expect_the_cpus_end(type, thresholds);
  }
}

TEST(CudaLarge, QuantisesAsTheCpuBeyond32Bits) {
  const PhiloxState random = {3, 4};
  const DevicePhilox seed = {&random.seed, random.offset};
  const RotatedFormat rotated = {ElementType::bf16, 3, 256, kCount, random};
  const GroupFormat group = {ElementType::bf16, 3, 256, Rounding::dithered, random};
  const int64_t bytes = code_bytes(rotated.coded_elements(), 3);
  Sparse x(kCount * 2), back(kCount * 2), expected_back(kCount * 2);
  Sparse codes(bytes), expected(bytes);
  Sparse kept(rotated.groups() * 4), expected_kept(rotated.groups() * 4);
  fill_the_end(x, ElementType::bf16, 5);
  const auto expect_the_same = [&](int64_t stream_bytes) {
    const int64_t shown = stream_bytes - kBegin / 8 * 3;
    const auto stream = [&](Sparse& of) {
      const uint8_t* const end = of.data() + stream_bytes;
      return std::vector<uint8_t>(end - shown, end);
    };
    EXPECT_EQ(stream(codes), stream(expected));
    EXPECT_EQ(kept.end(4 * 65), expected_kept.end(4 * 65));
    EXPECT_EQ(back.end((kCount - kBegin) * 2), expected_back.end((kCount - kBegin) * 2));
  };

  const GroupRange groups = {kBegin / 256, rotated.groups()};
  kernels::rotated_encode(rotated, x.data(), expected.data(), expected_kept.data(), groups);
  kernels::rotated_decode(rotated, expected.data(), expected_kept.data(), expected_back.data(),
                          groups);
  with_the_last_blocks(ElementType::bf16, [&] {
    rotated_encode(rotated, seed, x.data(), codes.data(), kept.data(), nullptr);
    rotated_decode(rotated, seed, codes.data(), kept.data(), back.data(), nullptr);
  });
  expect_the_same(bytes);

  const Range range = {kBegin, kCount, kCount};
  kernels::group_encode(group, x.data(), expected.data(), expected_kept.data(), range);
  kernels::group_decode(group, expected.data(), expected_kept.data(), expected_back.data(), range);
  with_the_last_blocks(ElementType::bf16, [&] {
    group_encode(group, seed, x.data(), codes.data(), kept.data(), kCount, nullptr);
    group_decode(group, seed, codes.data(), kept.data(), back.data(), kCount, nullptr);
  });
  expect_the_same(code_bytes(kCount, 3));

  kernels::sign_encode(ElementType::bf16, x.data(), expected.data(), range);
  kernels::sign_decode(ElementType::bf16, expected.data(), expected_back.data(), range);
  with_the_last_blocks(ElementType::bf16, [&] {
    sign_encode(ElementType::bf16, x.data(), codes.data(), kCount, nullptr);
    sign_decode(ElementType::bf16, codes.data(), back.data(), kCount, nullptr);
  });
  EXPECT_EQ(back.end((kCount - kBegin) * 2), expected_back.end((kCount - kBegin) * 2));
}

}  // namespace fewbit::kernels::cuda::large_test

// More elements than 32 bits count: the last blocks of a launch over memory of which only the end
// is ever touched.
#include <gtest/gtest.h>
#include <sys/mman.h>

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

}  // namespace fewbit::kernels::cuda::large_test

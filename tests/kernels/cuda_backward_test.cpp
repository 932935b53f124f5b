// The CUDA kernels' reading of the stream, on the host: the same gradients as the CPU's.
#include <gtest/gtest.h>

#include "tests/kernels/warp.hpp"

namespace fewbit::kernels::cuda {

namespace {

using enum ElementType;

template <ElementType kType, int kBits>
void expect_the_cpus_gradient() {
  const SyntheticTable table(kBits, 40, kBits);
  const Bytes x = bytes_of(normal_inputs(3 * kTile, 8), f32);
  const Bytes codes = run_forward(*kernels::find_activation("relu"), table.view(), f32, x).codes;
  const Bytes dy = bytes_of(normal_inputs(3 * kTile, 9), kType);
  ASSERT_EQ((backward_of_tiles<kType, kBits>(levels_of(table.view()), dy, codes)),
            run_backward(table.view(), kType, dy, codes))
      << kBits << " bits, " << type_name(kType);
}

TEST(CudaBackward, GivesTheCpusGradientForEveryWidthAndType) {
  for_types<f32, bf16, f16>([]<ElementType kType> {
    [&]<int... kBits>(std::integer_sequence<int, kBits...>) {
      (expect_the_cpus_gradient<kType, kBits + 1>(), ...);
    }
    (std::make_integer_sequence<int, 8>());
  });
}

template <ElementType kType, int kBits>
void expect_the_last_word_to_be_the_tiles() {
  const VectorCodes<kType, kBits> codes(kLanes - 1);
  EXPECT_EQ(codes.last + (kVectors<kType> - 1) * codes.kStride, kTile / 32 * kBits - 1);
}

/// What lies beyond a tile's share of the stream may be another allocation.
TEST(CudaBackward, ReadsNoWordBeyondItsTile) {
  for_types<f32, bf16>([]<ElementType kType> {
    [&]<int... kBits>(std::integer_sequence<int, kBits...>) {
      (expect_the_last_word_to_be_the_tiles<kType, kBits + 1>(), ...);
    }
    (std::make_integer_sequence<int, 8>());
  });
}

TEST(CudaBackward, FindsEveryCodeOfAStreamByItself) {
  for (int bits = 1; bits <= 8; ++bits) {
    Bytes stream(static_cast<size_t>(code_bytes(999, bits)));
    std::mt19937 random(static_cast<uint32_t>(bits));
    for (uint8_t& byte : stream) byte = static_cast<uint8_t>(random());
    for (int64_t i = 0; i < 999; ++i) {
      ASSERT_EQ(load_code(stream.data(), bits, i), code_at(stream, bits, i)) << bits << ' ' << i;
    }
  }
}

}  // namespace

}  // namespace fewbit::kernels::cuda

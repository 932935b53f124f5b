// integer_* and sign_*: what comes back, shapes, threads, refusals.
#include "ops/integers.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "kernels/stream/code_stream.hpp"
#include "tests/ops/threads.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::integers_test {

using ops::integer_decode;
using ops::integer_encode;
using ops::sign_decode;
using ops::sign_encode;
using test::refusal;

TEST(IntegerOperations, GiveIntegersBackInTheLeastBits) {
  at::manual_seed(3);
  for (const at::ScalarType type : {at::kByte, at::kInt, at::kLong}) {
    for (const int64_t count : {1, 64, 1000, 70001}) {
      for (const int64_t width : {1, 2, 5, 200}) {
        const at::Tensor x = at::randint(17, 17 + width, {count}, type);
        const int64_t lowest = x.min().item<int64_t>();
        const int bits = ops::integer_bits(lowest, x.max().item<int64_t>());
        const at::Tensor codes = integer_encode(x, lowest, bits);
        EXPECT_EQ(codes.numel(), kernels::code_bytes(count, bits));
        EXPECT_TRUE(at::equal(integer_decode(codes, count, lowest, bits, type), x));
      }
    }
  }
  const at::Tensor mask = at::rand({1000}) > 0.5;
  EXPECT_TRUE(at::equal(integer_decode(integer_encode(mask, 0, 1), 1000, 0, 1, at::kBool), mask));
  EXPECT_EQ(integer_encode(at::empty({0}, at::kLong), 0, 3).numel(), 0);
}

TEST(IntegerOperations, GiveSignsBackAsOneAndZero) {
  at::manual_seed(4);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble, at::kBool}) {
    for (const int64_t count : {0, 1, 513, 70001}) {
      const at::Tensor x = at::randn({count}).relu().to(type);
      const at::Tensor codes = sign_encode(x);
      EXPECT_EQ(codes.numel(), kernels::code_bytes(count, 1));
      for (const at::ScalarType back : {type, at::kBool, at::kFloat}) {
        EXPECT_TRUE(at::equal(sign_decode(codes, count, back), (x > 0).to(back)));
      }
    }
  }
}

TEST(IntegerOperations, TakeElementsInTheOrderOfMemory) {
  const at::Tensor x = at::randn({3, 4, 5, 6}).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor flat = x.permute({0, 2, 3, 1}).reshape({-1});
  EXPECT_TRUE(at::equal(sign_encode(x), sign_encode(flat)));
  const at::Tensor part = x.slice(3, 0, 6, 2);
  EXPECT_TRUE(at::equal(sign_encode(part), sign_encode(at::empty_like(part).copy_(part))));
}

TEST(IntegerOperations, GiveTheSameInEveryNumberOfThreads) {
  const at::Tensor x = at::randint(-500, 500, {300001}, at::kLong);
  at::Tensor codes, signs;
  for (const int threads : {1, 2, 5}) {
    const test::Threads guard(threads);
    if (!codes.defined()) codes = integer_encode(x, -500, 10);
    if (!signs.defined()) signs = sign_encode(x.to(at::kFloat));
    EXPECT_TRUE(at::equal(integer_encode(x, -500, 10), codes));
    EXPECT_TRUE(at::equal(integer_decode(codes, 300001, -500, 10, at::kLong), x));
    EXPECT_TRUE(at::equal(sign_encode(x.to(at::kFloat)), signs));
    EXPECT_TRUE(at::equal(sign_decode(signs, 300001, at::kBool), x > 0));
  }
}

TEST(IntegerOperations, HaveShapesWithoutDataBeyond32Bits) {
  const int64_t many = (int64_t{1} << 31) + 17;
  const at::Tensor x = at::empty({many}, at::TensorOptions(at::kMeta).dtype(at::kLong));
  const at::Tensor codes = integer_encode(x, 0, 17);
  EXPECT_EQ(codes.numel(), kernels::code_bytes(many, 17));
  EXPECT_EQ(integer_decode(codes, many, 0, 17, at::kLong).numel(), many);
  const at::Tensor signs = sign_encode(x.to(at::kHalf));
  EXPECT_EQ(signs.numel(), kernels::code_bytes(many, 1));
  EXPECT_EQ(sign_decode(signs, many, at::kHalf).numel(), many);
}

TEST(IntegerOperations, RefuseWhatHasNoCode) {
  const at::Tensor x = at::arange(10);
  EXPECT_EQ(refusal([&] { integer_encode(x, 0, 4); }), "accepted");
  EXPECT_EQ(refusal([&] { integer_encode(x, 0, 3); }),
            "fewbit::integer_encode: x has an element outside the 2^3 from 0 on, accepted: only "
            "elements that `bits` bits can tell apart");
  EXPECT_EQ(refusal([&] { integer_encode(x, 0, 33); }),
            "fewbit::integer_encode: bits is 33, accepted: 0 to 32");
  EXPECT_EQ(refusal([&] { integer_encode(x, 0, -1); }),
            "fewbit::integer_encode: bits is -1, accepted: 0 to 32");
  EXPECT_EQ(refusal([&] { integer_encode(x.to(at::kByte), 300, 1); }),
            "fewbit::integer_encode: minimum is 300, accepted: 0 to 255");
  EXPECT_EQ(refusal([&] { integer_encode(x.to(at::kByte), 200, 7); }),
            "fewbit::integer_encode: bits is 7 from a minimum of 200, accepted: 0 to 6, which "
            "reach the type's largest");
  EXPECT_EQ(refusal([&] { integer_encode(x.to(at::kFloat), 0, 4); }),
            "fewbit::integer_encode: a tensor of Float, accepted: bool, uint8, int, long");
  EXPECT_EQ(refusal([&] { sign_encode(x); }),
            "fewbit::sign_encode: a tensor of Long, accepted: bool, float, bfloat16, half, double");
}

TEST(IntegerOperations, RefuseCodesOfTheWrongLengthOrKind) {
  const at::Tensor codes = sign_encode(at::ones({100}));
  EXPECT_EQ(refusal([&] { sign_decode(codes, 300, at::kFloat); }),
            "fewbit::sign_decode: codes has 16 bytes, accepted: 48, which 300 codes of 1 bits "
            "take");
  EXPECT_EQ(refusal([&] { sign_decode(codes, -1, at::kFloat); }),
            "fewbit::sign_decode: count is -1, accepted: 0 or more");
  EXPECT_EQ(refusal([&] { integer_decode(codes.to(at::kInt), 100, 0, 1, at::kLong); }),
            "fewbit::integer_decode: codes is a 1-d tensor of Int, accepted: contiguous 1-d "
            "uint8");
}

}  // namespace fewbit::integers_test

// The operations that keep a tensor in few bits: shapes, threads, what they refuse.
#include "ops/rotated.hpp"

#include <tuple>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "tests/support/refusal.hpp"

namespace fewbit::ops::rotated_test {

using test::refusal;

RandomStream stream(int64_t seed = 1, int64_t offset = 2) {
  return {at::full({1}, seed, at::kLong), offset};
}

TEST(RotatedOperation, ComesBackInTheOrderOfMemory) {
  const at::Tensor x = at::randn({6, 50, 7}).transpose(0, 2);
  const auto [codes, constants] = rotated_encode(x, {8, 64}, stream());
  EXPECT_EQ(codes.sizes(), (std::vector<int64_t>{33 * 64}));
  EXPECT_EQ(constants.sizes(), (std::vector<int64_t>{33, 2}));
  EXPECT_EQ(constants.scalar_type(), at::kBFloat16);
  const at::Tensor back = rotated_decode(codes, constants, 2100, {8, 64}, at::kFloat, stream())
                              .as_strided(x.sizes(), x.strides());
  EXPECT_LT((back - x).norm().item<double>(), 0.02 * x.norm().item<double>());
}

TEST(RotatedOperation, ThreadsMakeNoDifference) {
  const at::Tensor x = at::randn({300'001});
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const auto [codes, constants] = rotated_encode(x, {3, 256}, stream());
  const at::Tensor back =
      rotated_decode(codes, constants, x.numel(), {3, 256}, at::kFloat, stream());
  at::set_num_threads(4);
  const auto [again, constants_again] = rotated_encode(x, {3, 256}, stream());
  EXPECT_TRUE(at::equal(again, codes));
  EXPECT_TRUE(at::equal(constants_again, constants));
  EXPECT_TRUE(
      at::equal(rotated_decode(codes, constants, x.numel(), {3, 256}, at::kFloat, stream()), back));
  at::set_num_threads(threads);
}

TEST(RotatedOperation, APartComesBackByItself) {
  const at::Tensor x = at::randn({10'000});
  const RotatedCodes form{3, 256};
  const auto [codes, constants] = rotated_encode(x, form, stream());
  const at::Tensor whole = rotated_decode(codes, constants, 10'000, form, at::kFloat, stream());
  const Part part(3000, 5000, 10'000);
  EXPECT_EQ(part.begin, 2048);
  EXPECT_EQ(part.end, 5120);
  const auto decode = [&, codes = codes, constants = constants](int64_t first) {
    return rotated_decode(part.of_codes(codes, 3, 10'000), part.of_constants(constants, 256),
                          part.count(), form, at::kFloat, stream(), first);
  };
  EXPECT_TRUE(at::equal(decode(2048), whole.slice(0, 2048, 5120)));
  EXPECT_EQ(refusal([&] { decode(100); }),
            "fewbit::rotated_decode: first is 100, accepted: multiples of 1024");
}

TEST(RotatedOperation, SeveralTogetherAreEachByItself) {
  const RotatedCodes form{3, 128};
  const std::vector<at::Tensor> xs = {at::randn({40, 50}).t(), at::randn({0}), at::randn({7}),
                                      at::randn({3, 4, 500})};
  const std::vector<int64_t> offsets = {5, 2, 2, 9};
  std::vector<at::Tensor> codes, constants;
  std::vector<int64_t> counts;
  for (const at::Tensor& x : xs) {
    const auto [empty_codes, empty_constants] = empty_rotated_of(x, form);
    codes.push_back(empty_codes);
    constants.push_back(empty_constants);
    counts.push_back(x.numel());
  }
  const at::Tensor seed = stream().seed;
  rotated_encode_together(xs, form, seed, offsets, codes, constants);
  const auto back =
      rotated_decode_together(codes, constants, counts, form, at::kFloat, seed, offsets);
  ASSERT_EQ(back.size(), xs.size());
  for (size_t i = 0; i < xs.size(); ++i) {
    const auto [own_codes, own_constants] = rotated_encode(xs[i], form, {seed, offsets[i]});
    EXPECT_TRUE(at::equal(codes[i], own_codes));
    EXPECT_TRUE(at::equal(constants[i], own_constants));
    EXPECT_TRUE(at::equal(back[i], rotated_decode(codes[i], constants[i], counts[i], form,
                                                  at::kFloat, {seed, offsets[i]})));
  }
  EXPECT_TRUE(rotated_decode_together({}, {}, {}, form, at::kFloat, seed, {}).empty());
}

TEST(RotatedOperation, SeveralTogetherAreRefusedByName) {
  const RotatedCodes form{3, 128};
  const at::Tensor x = at::randn({100}), seed = stream().seed;
  const auto empty = empty_rotated_of(x, form);
  const at::Tensor codes = std::get<0>(empty), constants = std::get<1>(empty);
  const auto encode = [&](const std::vector<at::Tensor>& xs, const std::vector<int64_t>& offsets) {
    return refusal([&] {
      rotated_encode_together(xs, form, seed, offsets, {codes, codes}, {constants, constants});
    });
  };
  EXPECT_EQ(encode({x}, {1}),
            "fewbit::rotated_encode_together: codes has 2 elements, accepted: as many as there are "
            "tensors, 1");
  EXPECT_EQ(encode({x, x}, {1}),
            "fewbit::rotated_encode_together: offsets has 1 elements, accepted: as many as there "
            "are tensors, 2");
  EXPECT_EQ(encode({x, x.to(at::kHalf)}, {1, 2}),
            "fewbit::rotated_encode_together: x 1 is of Half, accepted: as the first, Float");
  EXPECT_NE(encode({x, at::randn({300})}, {1, 2}).find("codes"), std::string::npos);
  EXPECT_EQ(
      refusal([&] {
        rotated_decode_together({codes}, {constants}, {100, 100}, form, at::kFloat, seed, {1});
      }),
      "fewbit::rotated_decode_together: counts has 2 elements, accepted: as many as there "
      "are tensors, 1");
}

TEST(RotatedOperation, TakesATrellis) {
  const at::Tensor x = at::randn({100'000});
  const auto error_of = [&](int64_t states) {
    const RotatedCodes form{2, 256, states};
    const auto [codes, constants] = rotated_encode(x, form, stream());
    EXPECT_EQ(codes.numel(), 391 * 64);
    const at::Tensor back = rotated_decode(codes, constants, x.numel(), form, at::kFloat, stream());
    EXPECT_NEAR((back - x).square().sum().item<double>() / x.square().sum().item<double>(),
                rotated_error(form), 0.04 * rotated_error(form));
    return rotated_error(form);
  };
  EXPECT_LT(error_of(4), 0.75 * error_of(0));
  EXPECT_LT(error_of(8), 0.99 * error_of(4));
}

TEST(RotatedOperation, TakesNoElements) {
  const auto [codes, constants] = rotated_encode(at::empty({0, 3}), {2, 256}, stream());
  EXPECT_EQ(codes.numel(), 0);
  EXPECT_EQ(rotated_decode(codes, constants, 0, {2, 256}, at::kFloat, stream()).numel(), 0);
}

TEST(RotatedOperation, HasShapesWithoutData) {
  const at::Tensor x = at::empty({100, 5}, at::TensorOptions(at::kMeta).dtype(at::kDouble));
  const RandomStream random{at::empty({1}, at::TensorOptions(at::kMeta).dtype(at::kLong)), 0};
  const auto [codes, constants] = rotated_encode(x, {2, 256}, random);
  EXPECT_EQ(codes.numel(), 2 * 64);
  EXPECT_EQ(constants.scalar_type(), at::kDouble);
  const at::Tensor back = rotated_decode(codes, constants, 500, {2, 256}, at::kDouble, random);
  EXPECT_EQ(back.sizes(), at::IntArrayRef({500}));
}

TEST(RotatedOperation, RefusesByName) {
  const at::Tensor x = at::randn({1000});
  const auto encoding = [&](const at::Tensor& t, int64_t bits, int64_t group,
                            const RandomStream& r) {
    return refusal([&] { rotated_encode(t, {bits, group}, r); });
  };
  EXPECT_EQ(encoding(x, 9, 256, stream()), "fewbit::rotated_encode: bits is 9, accepted: 1 to 8");
  EXPECT_EQ(encoding(x, 2, 100, stream()),
            "fewbit::rotated_encode: group is 100, accepted: a power of two from 64 to 1024");
  EXPECT_EQ(encoding(x.to(at::kLong), 2, 64, stream()),
            "fewbit::rotated_encode: a tensor of Long, accepted: float, bfloat16, half, double");
  EXPECT_EQ(encoding(x, 2, 64, {at::ones({2}, at::kLong), 0}),
            "fewbit::rotated_encode: seed is 2 elements of Long, accepted: one Long");
  EXPECT_EQ(refusal([&] {
              rotated_encode(x, {2, 64, 5}, stream());
            }),
            "fewbit::rotated_encode: states is 5, accepted: 0, 4, 8");
  EXPECT_EQ(refusal([&] {
              rotated_encode(x, {5, 64, 4}, stream());
            }),
            "fewbit::rotated_encode: 5 bits with a trellis, accepted: 1 to 4");
  // No structured binding, which lambdas do not capture everywhere.
  at::Tensor codes, constants;
  std::tie(codes, constants) = rotated_encode(x, {2, 256}, stream());
  EXPECT_EQ(
      refusal([&] {
        rotated_decode(codes, constants, 2000, {2, 256}, at::kFloat, stream());
      }),
      "fewbit::rotated_decode: codes has 256 bytes, accepted: 512, which 2048 codes of 2 bits "
      "take");
  EXPECT_EQ(refusal([&] {
              rotated_decode(codes, constants, 1000, {2, 256}, at::kDouble, stream());
            }),
            "fewbit::rotated_decode: constants is [4, 2] of BFloat16, accepted: contiguous [4, 2] "
            "of Double");
}

}  // namespace fewbit::ops::rotated_test

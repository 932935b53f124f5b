// The quantizers' operations on tensors of a GPU do what they do on the CPU, bit for bit.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ops/cuda_device.hpp"
#include "ops/group.hpp"
#include "ops/group_samples.hpp"
#include "ops/integers.hpp"
#include "ops/normal_bins.hpp"
#include "ops/rotated.hpp"
#include "ops/rotated_by_class.hpp"
#include "ops/rotated_low_rank.hpp"
#include "tests/support/cuda_test.hpp"

namespace fewbit::cuda_quantizers_test {

class CudaQuantizers : public test::CudaTest {};

/// Of a sample; there are seven.
constexpr int64_t kSample = test::kSlowness == 1 ? 10'000 : 1'500;
constexpr int64_t kCount = 7 * kSample;

constexpr at::ScalarType kTypes[] = {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble};

/// Some groups are constant, or have no numbers.
at::Tensor inputs(at::ScalarType type) {
  at::manual_seed(7);
  at::Tensor x = at::randn({kCount});
  x.slice(0, 1024, 2048) = 3;
  x.select(0, 5000) = NAN;
  x.slice(0, 9000, 9500) *= 1e-20;
  return x.to(type);
}

/// NaN, too.
bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return at::equal(a.cpu().contiguous().view(at::kByte), b.cpu().contiguous().view(at::kByte));
}

void expect_rotated_as_on_the_cpu(const at::Tensor& x, const ops::RotatedCodes& form,
                                  const at::Tensor& seed) {
  const at::ScalarType type = x.scalar_type();
  const auto [codes, constants] = ops::rotated_encode(x, form, {seed, 5});
  const ops::RandomStream random{seed.to(test::kDevice), 5};
  const auto [on_device, constants_on_device] =
      ops::rotated_encode(x.to(test::kDevice), form, random);
  const auto what = [&] {
    return ::testing::Message() << type << ' ' << form.group << ' ' << form.states;
  };
  EXPECT_TRUE(same_bits(on_device, codes)) << what();
  EXPECT_TRUE(same_bits(constants_on_device, constants)) << what();
  EXPECT_TRUE(
      same_bits(ops::rotated_decode(on_device, constants_on_device, x.numel(), form, type, random),
                ops::rotated_decode(codes, constants, x.numel(), form, type, {seed, 5})))
      << what();
  const ops::Part part(1500, 2500, x.numel());
  const auto decode_part = [&](const at::Tensor& of, const at::Tensor& with,
                               const ops::RandomStream& by) {
    return ops::rotated_decode(part.of_codes(of, form.bits, x.numel()),
                               part.of_constants(with, form.group), part.count(), form, type, by,
                               part.begin);
  };
  EXPECT_TRUE(same_bits(decode_part(on_device, constants_on_device, random),
                        decode_part(codes, constants, {seed, 5})))
      << what() << ", a part";
}

TEST_F(CudaQuantizers, RotateAsOnTheCpu) {
  const at::Tensor seed = at::full({1}, 11, at::kLong);
  for (const at::ScalarType type : kTypes) {
    for (const int64_t group : {64, 128, 256, 512, 1024}) {
      expect_rotated_as_on_the_cpu(inputs(type), {3, group}, seed);
    }
  }
}

TEST_F(CudaQuantizers, RotateSeveralTogetherAsEachOnTheCpu) {
  const at::Tensor seed = at::full({1}, 11, at::kLong);
  for (const at::ScalarType type : kTypes) {
    for (const int64_t group : {64, 128, 256, 512, 1024}) {
      const ops::RotatedCodes form{3, group};
      std::vector<at::Tensor> xs, there, codes, constants;
      std::vector<int64_t> counts, offsets;
      for (int64_t i = 0; i < 37; ++i) {  // of two launches
        xs.push_back(inputs(type).slice(0, 100 * i, 100 * i + 1000 + 37 * i));
        there.push_back(xs.back().to(test::kDevice));
        const auto [empty_codes, empty_constants] = ops::empty_rotated_of(there.back(), form);
        codes.push_back(empty_codes);
        constants.push_back(empty_constants);
        counts.push_back(xs.back().numel());
        offsets.push_back(3 * i);
      }
      const at::Tensor seed_there = seed.to(test::kDevice);
      ops::rotated_encode_together(there, form, seed_there, offsets, codes, constants);
      const auto back =
          ops::rotated_decode_together(codes, constants, counts, form, type, seed_there, offsets);
      for (size_t i = 0; i < xs.size(); ++i) {
        const ops::RandomStream own{seed, offsets[i]};
        const auto [own_codes, own_constants] = ops::rotated_encode(xs[i], form, own);
        EXPECT_TRUE(same_bits(codes[i], own_codes) && same_bits(constants[i], own_constants));
        EXPECT_TRUE(same_bits(
            back[i], ops::rotated_decode(own_codes, own_constants, counts[i], form, type, own)));
      }
    }
  }
}

TEST_F(CudaQuantizers, PickCodesAsOnTheCpu) {
  const at::Tensor seed = at::full({1}, 11, at::kLong);
  for (const at::ScalarType type : kTypes) {
    for (const int64_t group : {64, 256, 1024}) {
      for (const int64_t states : {4, 8}) {
        expect_rotated_as_on_the_cpu(inputs(type), {states == 4 ? 2 : 3, group, states}, seed);
      }
    }
  }
}

void expect_by_class_as_on_the_cpu(const at::Tensor& x, int bits, const ops::RotatedCodes& form) {
  const at::Tensor seed = at::full({1}, 11, at::kLong);
  const ops::RandomStream here{seed, 5}, there{seed.to(test::kDevice), 5};
  const int count = std::min(1 << bits, 20);
  const at::Tensor device_x = x.to(test::kDevice);
  const at::Tensor each = at::randint(count, {x.numel()}, at::kByte);
  const ops::ElementClasses classes{ops::integer_encode(each, 0, bits), bits};
  const ops::ElementClasses device_classes{classes.codes.to(test::kDevice), bits};
  const auto maps = ops::class_maps(x, classes, count, 1);
  const auto device_maps = ops::class_maps(device_x, device_classes, count, 1);
  EXPECT_TRUE(same_bits(device_maps.there, maps.there) && same_bits(device_maps.back, maps.back));
  const auto [codes, constants] = ops::rotated_encode(x, classes, maps.there, form, here);
  const auto [device_codes, device_constants] =
      ops::rotated_encode(device_x, device_classes, device_maps.there, form, there);
  EXPECT_TRUE(same_bits(device_codes, codes) && same_bits(device_constants, constants));
  const at::ScalarType type = x.scalar_type();
  EXPECT_TRUE(same_bits(
      ops::rotated_decode(device_codes, device_constants, x.numel(), device_classes,
                          device_maps.back, form, type, there),
      ops::rotated_decode(codes, constants, x.numel(), classes, maps.back, form, type, here)));
}

TEST_F(CudaQuantizers, RotateByClassAsOnTheCpu) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const int bits : {1, 2, 3, 4, 8}) {
      for (const int64_t states : {0, 4, 8}) {
        SCOPED_TRACE(::testing::Message() << type << ' ' << bits << ' ' << states);
        expect_by_class_as_on_the_cpu(inputs(type), bits, {3, 256, states});
      }
    }
  }
}

TEST_F(CudaQuantizers, TakeNormInputsInBinsAsOnTheCpu) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const at::Tensor x = inputs(type).reshape({7, 50, kSample / 50});
    for (const int bits : {1, 3, 8}) {
      const ops::NormNumbers here{at::randn({7, 50, 1}), at::rand({7, 50, 1}) + 0.5,
                                  at::randint(2, {50, 1}, at::kFloat) * 2.0 - 1.0,
                                  at::randn({50, 1})};
      const auto to = [](const at::Tensor& one) { return one.to(test::kDevice); };
      const ops::NormNumbers there{to(here.mean), to(here.deviation), to(here.sign),
                                   to(here.ratio)};
      const at::Tensor codes = ops::normal_bins_encode(x, here, bits);
      const at::Tensor device_codes = ops::normal_bins_encode(to(x), there, bits);
      EXPECT_TRUE(same_bits(device_codes, codes)) << type << ' ' << bits;
      EXPECT_TRUE(same_bits(
          ops::normal_bins_decode(device_codes, x.sizes(), x.strides(), type, there, bits),
          ops::normal_bins_decode(codes, x.sizes(), x.strides(), type, here, bits)))
          << type << ' ' << bits;
    }
  }
}

/// Of more elements than are in memory at the same time (ops/rotated_low_rank_cuda.cpp).
TEST_F(CudaQuantizers, TakeWhatLiesAlongDirectionsAsOnTheCpu) {
  const at::Tensor seed = at::full({1}, 11, at::kLong);
  const ops::RandomStream here{seed, 5}, there{seed.to(test::kDevice), 5};
  at::manual_seed(8);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const ops::ChannelPlace& place : {ops::ChannelPlace{384, 1}, {48, 49}}) {
      constexpr int64_t kMore = ops::kFloatsAtOnce + ops::kFloatsAtOnce / 4;
      const at::Tensor x = at::randn({kMore / place.block() * place.block()}).to(type);
      const at::Tensor basis = ops::basis_of(at::randn({5, place.channels}));
      const ops::LowRankForm form{place, 5, {2, 256}};
      const ops::LowRankCodes codes = ops::low_rank_encode(x, basis, form, here);
      const ops::LowRankCodes device_codes =
          ops::low_rank_encode(x.to(test::kDevice), basis.to(test::kDevice), form, there);
      EXPECT_TRUE(same_bits(std::get<0>(device_codes), std::get<0>(codes))) << type;
      EXPECT_TRUE(same_bits(std::get<1>(device_codes), std::get<1>(codes))) << type;
      EXPECT_TRUE(same_bits(std::get<2>(device_codes), std::get<2>(codes))) << type;
      EXPECT_TRUE(same_bits(std::get<3>(device_codes), std::get<3>(codes))) << type;
      for (const int64_t begin : {int64_t{0}, x.numel() / 3}) {
        EXPECT_TRUE(same_bits(
            ops::low_rank_decode(device_codes, basis.to(test::kDevice), x.numel(), form, type,
                                 there, begin, x.numel()),
            ops::low_rank_decode(codes, basis, x.numel(), form, type, here, begin, x.numel())))
            << type;
      }
    }
  }
}

TEST_F(CudaQuantizers, QuantiseGroupsAsOnTheCpu) {
  const at::Tensor seed = at::full({1}, 11, at::kLong);
  for (const at::ScalarType type : kTypes) {
    for (const char* rounding : {"nearest", "stochastic", "dithered", "squares"}) {
      const at::Tensor x = inputs(type);
      const auto [codes, constants] = ops::group_encode(x, 3, 256, rounding, seed, 5);
      const auto [on_device, constants_on_device] =
          ops::group_encode(x.to(test::kDevice), 3, 256, rounding, seed.to(test::kDevice), 5);
      EXPECT_TRUE(same_bits(on_device, codes)) << type << ' ' << rounding;
      EXPECT_TRUE(same_bits(constants_on_device, constants)) << type << ' ' << rounding;
      EXPECT_TRUE(same_bits(
          ops::group_decode(on_device, constants_on_device, x.numel(), 3, 256, rounding, type,
                            seed.to(test::kDevice), 5),
          ops::group_decode(codes, constants, x.numel(), 3, 256, rounding, type, seed, 5)))
          << type << ' ' << rounding;
    }
  }
}

TEST_F(CudaQuantizers, QuantiseSamplesAsOnTheCpu) {
  const at::Tensor seed = at::full({1}, 11, at::kLong);
  const at::Tensor bits = at::arange(7).add(2).remainder(8).add(1).to(at::kByte);
  for (const at::ScalarType type : kTypes) {
    for (const char* rounding : {"nearest", "stochastic", "dithered", "squares"}) {
      const at::Tensor x = inputs(type).view({7, kSample});
      const int64_t bytes = ops::group_sample_bytes(bits, kSample);
      const auto [codes, constants] =
          ops::group_encode_samples(x, bits, bytes, 256, rounding, seed, 5);
      const auto [on_device, constants_on_device] =
          ops::group_encode_samples(x.to(test::kDevice), bits.to(test::kDevice), bytes, 256,
                                    rounding, seed.to(test::kDevice), 5);
      EXPECT_TRUE(same_bits(on_device, codes)) << type << ' ' << rounding;
      EXPECT_TRUE(same_bits(constants_on_device, constants)) << type << ' ' << rounding;
      EXPECT_TRUE(same_bits(
          ops::group_decode_samples(on_device, constants_on_device, bits.to(test::kDevice), kSample,
                                    256, rounding, type, seed.to(test::kDevice), 5),
          ops::group_decode_samples(codes, constants, bits, kSample, 256, rounding, type, seed, 5)))
          << type << ' ' << rounding;
    }
  }
}

TEST_F(CudaQuantizers, KeepIntegersAndMasksAsOnTheCpu) {
  for (const at::ScalarType type : {at::kByte, at::kInt, at::kLong}) {
    const at::Tensor x = at::randint(3, 100, {kCount + 1}, type);
    const at::Tensor codes = ops::integer_encode(x, 3, 7);
    const at::Tensor on_device = ops::integer_encode(x.to(test::kDevice), 3, 7);
    EXPECT_TRUE(same_bits(on_device, codes)) << type;
    EXPECT_TRUE(same_bits(ops::integer_decode(on_device, x.numel(), 3, 7, type), x)) << type;
  }
  for (const at::ScalarType type : kTypes) {
    const at::Tensor x = inputs(type);
    const at::Tensor codes = ops::sign_encode(x);
    EXPECT_TRUE(same_bits(ops::sign_encode(x.to(test::kDevice)), codes)) << type;
    EXPECT_TRUE(same_bits(ops::sign_decode(codes.to(test::kDevice), x.numel(), type),
                          ops::sign_decode(codes, x.numel(), type)))
        << type;
  }
  const at::Tensor mask = at::randn({kCount + 1}) > 0;
  EXPECT_TRUE(same_bits(ops::sign_encode(mask.to(test::kDevice)), ops::sign_encode(mask)));
  EXPECT_TRUE(same_bits(
      ops::sign_decode(ops::sign_encode(mask.to(test::kDevice)), mask.numel(), at::kBool), mask));
}

}  // namespace fewbit::cuda_quantizers_test

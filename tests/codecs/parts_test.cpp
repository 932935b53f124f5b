// Parts of a run are what the whole has there, bit for bit, wherever they begin and end.
#include <random>

#include <gtest/gtest.h>

#include "ops/integers.hpp"
#include "tests/codecs/support.hpp"

namespace fewbit::codecs::parts_test {

void expect_parts(const Encoded& run, int64_t count, const std::string& what) {
  ASSERT_TRUE(run.has_parts()) << what;
  const at::Tensor whole = run.decoded();
  std::mt19937_64 random(5);
  for (int i = 0; i < 10; ++i) {
    int64_t begin = static_cast<int64_t>(random() % static_cast<uint64_t>(count));
    int64_t end = begin + 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(count - begin));
    if (i == 0) begin = 0, end = count;
    if (i == 1) begin = count - 1, end = count;
    EXPECT_TRUE(is_same(run.decoded(begin, end), whole.slice(0, begin, end)))
        << what << ": [" << begin << ", " << end << ") of " << count;
  }
}

Classes halves(const at::Tensor& x) {
  const ops::ElementClasses classes{ops::integer_encode(run_of(x).gt(0.0).to(at::kByte), 0, 2), 2};
  return {2,
          [classes] { return classes; },
          {},
          [classes, count = x.numel()](const ops::Part& part) {
            return ops::ElementClasses{part.of_codes(classes.codes, 2, count), 2};
          }};
}

TEST(Parts, OfRotatedRuns) {
  at::manual_seed(1);
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble}) {
    for (const int64_t count : {1, 1000, 1024, 5000, 70'001}) {
      for (const int64_t group : {64, 256, 1024}) {
        for (int bits = 1; bits <= 8; ++bits) {
          for (const int64_t states : {0, 4}) {
            if (states != 0 && bits > 4) continue;
            const at::Tensor x = at::randn({count}).to(type);
            const RotatedCodes form{bits, group, states};
            const std::string what = std::to_string(bits) + " bits, groups of " +
                                     std::to_string(group) + ", " + std::to_string(states);
            expect_parts(*rotated(form)->encode(x, random_of(1, 9)), count, what);
            expect_parts(*rotated_by_class(form, halves(x))->encode(x, random_of(1, 9)), count,
                         what + " by class");
          }
        }
      }
    }
  }
}

TEST(Parts, OfWhatLiesAlongDirections) {
  at::manual_seed(6);
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const ops::ChannelPlace& place :
         {ops::ChannelPlace{48, 1}, {300, 1}, {3, 100}, {40, 49}, {1500, 1}}) {
      for (const int64_t blocks : {1, 7, 50}) {
        for (const int bits : {1, 3, 4}) {
          const int64_t count = blocks * place.block();
          const at::Tensor basis = ops::basis_of(at::randn({3, place.channels}));
          const at::Tensor x = at::randn({count}).to(type);
          expect_parts(*low_rank({2, 256}, {basis, place, bits})->encode(x, random_of(1, 9)), count,
                       std::to_string(place.channels) + " x " + std::to_string(place.inner));
        }
      }
    }
  }
}

TEST(Parts, OfGroups) {
  at::manual_seed(4);
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble}) {
    for (const int64_t count : {1, 1000, 1024, 70'001}) {
      for (const int64_t group : {64, 256, 1024}) {
        for (int bits = 1; bits <= 8; ++bits) {
          const at::Tensor x = at::randn({count}).to(type);
          const std::string what =
              std::to_string(bits) + " bits, groups of " + std::to_string(group);
          expect_parts(*grouped(bits, group)->encode(x, random_of(1, 9)), count, what);
          expect_parts(*squares(bits, group)->encode(x.abs(), random_of(1, 9)), count,
                       what + ", squares");
        }
      }
    }
  }
}

TEST(Parts, WithExtremesApart) {
  at::manual_seed(2);
  at::Tensor x = at::randn({20'000});
  for (const int64_t place : {0, 1, 777, 5000, 5001, 19'999}) x[place] = 1e6;
  const auto run = rotated({2, 256})->encode(x, random_of(1));
  EXPECT_GT(run->tensors().size(), 3U);  // there are some
  expect_parts(*run, x.numel(), "extremes");
}

TEST(Parts, OfNormInputs) {
  at::manual_seed(3);
  const at::Tensor x = at::randn({9, 6, 11, 5}) * 3.0 + 1.0;
  const auto of = [](const at::Tensor& values, at::IntArrayRef over, int64_t groups) {
    const at::Tensor mean = values.mean(over, true);
    return statistics_of(mean, 1.0 / values.std(over, false, true), groups);
  };
  const std::vector<int64_t> channels = {0, 2, 3}, rows = {2, 3}, groups = {2, 3, 4};
  const CodecPointer codec = rotated({2, 256});
  for (const auto& given : {x, x.contiguous(at::MemoryFormat::ChannelsLast)}) {
    expect_parts(*normalized(codec, of(given, channels, 0))->encode(given, random_of(1)), x.numel(),
                 "batch");
    expect_parts(*normalized(codec, of(given, rows, 0))->encode(given, random_of(1)), x.numel(),
                 "layer");
  }
  const at::Tensor seen = x.unflatten(1, {3, 2});
  expect_parts(*normalized(codec, of(seen, groups, 3))->encode(x, random_of(1)), x.numel(),
               "group");
}

TEST(Parts, OfCasts) {
  const at::Tensor x = at::randn({5000});
  expect_parts(*cast(at::kBFloat16)->encode(x, random_of(1)), 5000, "cast");
}

TEST(Parts, OfMasks) {
  for (const int64_t count : {1, 1000, 1024, 5000, 70'001}) {
    const at::Tensor x = at::randn({count});
    expect_parts(*mask()->encode(x.gt(0.0), random_of(1)), count, "bool");
    expect_parts(*mask()->encode(x.gt(0.0).to(at::kFloat).mul_(1.25), random_of(1)), count, "f32");
  }
}

TEST(Parts, ClassesWithoutPartsComeWhole) {
  const at::Tensor x = at::randn({5000});
  Classes classes = halves(x);
  classes.of_part = nullptr;
  EXPECT_FALSE(rotated_by_class({2, 256}, classes)->encode(x, random_of(1))->has_parts());
  EXPECT_FALSE(identity()->encode(x, random_of(1))->has_parts());
}

}  // namespace fewbit::codecs::parts_test

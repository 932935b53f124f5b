// What any codec keeps, away from its memory: back bit for bit, and gone meanwhile.
#include "codecs/offloaded.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

#include "offload/file_store.hpp"
#include "tests/codecs/support.hpp"

namespace fewbit::codecs::offloaded_test {

struct Away {
  std::shared_ptr<offload::FileStore> store =
      std::make_shared<offload::FileStore>(testing::TempDir(), size_t{1} << 20);
  std::shared_ptr<offload::HostOffload> offload =
      std::make_shared<offload::HostOffload>([store = store](c10::Device) { return store; });

  std::shared_ptr<const Encoded> operator()(std::shared_ptr<const Encoded> encoded) const {
    return offloaded(std::move(encoded), *offload);
  }
};

bool is_same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && at::equal(a.view(at::kByte), b.view(at::kByte));
}

/// With NaN and infinities.
at::Tensor spoilt(const at::Tensor& x) {
  at::Tensor result = x.clone();
  result.view(-1).slice(0, 0, 3000, 700).fill_(std::numeric_limits<float>::quiet_NaN());
  result.view(-1).slice(0, 5000, 9000, 900).fill_(-std::numeric_limits<float>::infinity());
  return result;
}

struct Case {
  CodecPointer codec;
  at::Tensor x;
};

std::vector<Case> cases() {
  at::manual_seed(1);
  const at::Tensor x = at::randn({8, 16, 32, 16});
  std::vector<Case> cases;
  std::vector<CodecPointer> of_reals = {
      identity(),
      sizes_only(),
      cast(at::kBFloat16),
      cast(at::kFloat8_e4m3fn),
      cast(at::kFloat8_e5m2),
      grouped_by_sample(2.5),
      grouped(at::tensor({1, 8, 3, 2, 4, 5, 6, 7}).to(at::kByte), 64)};
  for (int bits = 1; bits <= 8; ++bits) {
    of_reals.push_back(grouped(bits));
    of_reals.push_back(squares(bits, 64));
    of_reals.push_back(rotated({bits, 64}));
    of_reals.push_back(frequency_split(bits));
    of_reals.push_back(normal_fixed_point(bits, {.over = {0, 2, 3}}));
  }
  of_reals.push_back(rotated({2, 256, 4}));
  for (const CodecPointer& codec : of_reals) {
    for (const at::Tensor& one : {x, x.to(at::kHalf), spoilt(x)}) {
      if (codec->takes(one)) cases.push_back({codec, one});
    }
  }
  cases.push_back({mask(), at::dropout(at::ones({200000}), 0.3, true)});
  cases.push_back({mask(), at::rand({200000}) < 0.5});
  cases.push_back({integers(), at::randint(-100, 3000, {100000})});
  cases.push_back({integers_below(500), at::randint(500, {100000})});
  cases.push_back({places({{32, 16}, {2, 2}, {2, 2}, {0, 0}, {1, 1}}),
                   std::get<1>(at::max_pool2d_with_indices(x, {2, 2}))});
  return cases;
}

TEST(Offloaded, GivesWhatEveryCodecGives) {
  const Away away;
  for (const bool is_written : {false, true}) {
    for (const Case& one : cases()) {
      const RandomStream random = random_of(5);
      const at::Tensor expected = one.codec->encode(one.x, random)->decoded();
      auto encoded = one.codec->encode(one.x, random);
      const int64_t bytes = bytes_of(*encoded), leaving = bytes_to_offload(*encoded);
      EXPECT_GE(leaving, std::max<int64_t>(bytes - 3 * 4096, 0)) << one.codec->name();
      const auto run = away(std::move(encoded));
      EXPECT_EQ(bytes_of(*run), bytes - leaving) << one.codec->name();
      if (is_written) away.store->settle();
      for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(is_same_bits(run->decoded(), expected)) << one.codec->name();
      }
    }
  }
}

TEST(Offloaded, EmptiesTheStorages) {
  const Away away;
  auto encoded = grouped(2)->encode(at::randn({1 << 20}), random_of(1));
  std::vector<c10::StorageImpl*> storages;
  for (const at::Tensor& tensor : encoded->tensors()) {
    storages.push_back(tensor.storage().unsafeGetStorageImpl());
  }
  const auto run = away(std::move(encoded));
  for (int i = 0; i < 2; ++i) {
    for (c10::StorageImpl* storage : storages) {
      EXPECT_EQ(storage->nbytes(), 0U);
      EXPECT_EQ(storage->data(), nullptr);
    }
    run->decoded();
  }
  EXPECT_TRUE(run->tensors().empty());
  EXPECT_EQ(away.store->used_bytes(), (1 << 20) * 2 / 8 + (1 << 12) * 4);
}

TEST(Offloaded, LeavesAloneWhatOthersHold) {
  const Away away;
  auto encoded = grouped(2)->encode(at::randn({1 << 20}), random_of(1));
  const at::Tensor codes = encoded->tensors()[0], copy = codes.clone();
  const at::Tensor constants = encoded->tensors()[1].view({-1});  // the same storage
  EXPECT_EQ(bytes_to_offload(*encoded), 0);
  const auto run = away(std::move(encoded));
  EXPECT_EQ(run->tensors().size(), 2U);
  EXPECT_TRUE(at::equal(codes, copy));
  EXPECT_EQ(away.store->used_bytes(), 0);
  run->decoded();
}

TEST(Offloaded, IsDecodedInSeveralThreadsAtOnce) {
  const Away away;
  std::vector<at::Tensor> expected;
  std::vector<std::shared_ptr<const Encoded>> runs;
  for (int i = 0; i < 8; ++i) {
    at::manual_seed(i);
    const at::Tensor x = at::randn({100000 + i});
    expected.push_back(coded(grouped(3), x));
    runs.push_back(away(grouped(3)->encode(x, random_of(1))));
  }
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t i = 0; i < 64; ++i) {
        const size_t at = (i * (2 * thread + 1) + thread) % runs.size();
        wrong += !at::equal(runs[at]->decoded(), expected[at]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace fewbit::codecs::offloaded_test

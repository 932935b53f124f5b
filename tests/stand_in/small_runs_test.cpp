// Small tensors of a device, which several are coded by one launch: codes, elements and gradients
// are those of each by itself.
#include "codecs/small_runs.hpp"

#include <atomic>
#include <thread>

#include <c10/core/Event.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/StreamGuard.h>
#include <gtest/gtest.h>

#include "fewbit/fewbit.hpp"
#include "tests/stand_in/device/counts.hpp"
#include "tests/stand_in/device/device.hpp"
#include "tests/stand_in/device/memory.hpp"
#include "tests/stand_in/device/streams.hpp"
#include "tests/stand_in/networks.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::codecs::small_runs_test {

using stand_in::kDevice;

const c10::Device kFirst(kDevice, 0);
constexpr RotatedCodes kForm{2, 256};

at::Tensor seed() {
  return at::full({1}, 17, at::kLong).to(kFirst);
}

/// So many runs of what `x` makes of their numbers, by SmallRuns and alone.
struct Runs {
  std::vector<std::shared_ptr<const Encoded>> together, alone;

  template <class X>
  Runs(SmallRuns& small, int count, const at::Tensor& of, X x) {
    for (int i = 0; i < count; ++i) {
      const at::Tensor one = x(i);
      together.push_back(rotated(kForm)->encode_among(small, one, {of, i}));
      alone.push_back(rotated(kForm)->encode(one, {of, i}));
    }
  }

  void expect_alike() const {
    for (size_t i = 0; i < together.size(); ++i) {
      EXPECT_TRUE(at::equal(together[i]->decoded().cpu(), alone[i]->decoded().cpu())) << i;
      for (size_t part = 0; part < 2; ++part) {
        EXPECT_TRUE(at::equal(together[i]->tensors()[part].cpu(), alone[i]->tensors()[part].cpu()));
      }
    }
  }
};

at::Tensor any_size(int i) {
  return at::randn({1024 + 37 * (i % 5), 3}).to(kFirst);
}

TEST(StandInSmallRuns, AreCodedAndDecodedByALaunchForThirtyTwo) {
  SmallRuns small;
  const at::Tensor of = seed(), x = at::randn({2000}).to(kFirst);
  std::vector<std::shared_ptr<const Encoded>> runs;
  stand_in::reset_counts();
  for (int i = 0; i < 70; ++i) {
    runs.push_back(rotated(kForm)->encode_among(small, x, {of, i}));
    EXPECT_EQ(stand_in::counts().launches, (i + 1) / 32);
  }
  small.settle();
  EXPECT_EQ(stand_in::counts().launches, 3);
  small.settle();
  EXPECT_EQ(stand_in::counts().launches, 3);
  for (size_t i = runs.size(); i-- > 0;) runs[i]->decoded();
  EXPECT_EQ(stand_in::counts().launches, 6);
  EXPECT_EQ(stand_in::counts().waits, 0);
}

TEST(StandInSmallRuns, AreTheSameAsAlone) {
  for (uint64_t order = 0; order < 3; ++order) {
    stand_in::set_order(order);
    SmallRuns small;
    const Runs runs(small, 75, seed(), any_size);
    runs.expect_alike();
    runs.expect_alike();  // and again
  }
}

TEST(StandInSmallRuns, OfSeveralKindsWaitForTheirOwn) {
  SmallRuns small;
  const at::Tensor of = seed(), x = at::randn({2000}).to(kFirst), half = x.to(at::kHalf);
  std::vector<std::pair<std::shared_ptr<const Encoded>, std::shared_ptr<const Encoded>>> runs;
  stand_in::reset_counts();
  for (int i = 0; i < 12; ++i) {
    const CodecPointer codec = rotated({1 + i % 3, 256});
    const at::Tensor& one = i % 2 == 0 ? x : half;
    runs.emplace_back(codec->encode_among(small, one, {of, i}), nullptr);
  }
  small.settle();
  EXPECT_EQ(stand_in::counts().launches, 6);
  for (int i = 0; i < 12; ++i) {
    const auto alone = rotated({1 + i % 3, 256})->encode(i % 2 == 0 ? x : half, {of, i});
    EXPECT_TRUE(
        at::equal(runs[static_cast<size_t>(i)].first->decoded().cpu(), alone->decoded().cpu()));
  }
}

TEST(StandInSmallRuns, WaitForNoMoreThanTheyMayHold) {
  SmallRuns small;
  const at::Tensor of = seed(), x = at::randn({SmallRuns::kMostElements}).to(kFirst);
  std::vector<std::shared_ptr<const Encoded>> runs;
  stand_in::reset_counts();
  for (int i = 0; i < 16; ++i) runs.push_back(rotated(kForm)->encode_among(small, x, {of, i}));
  EXPECT_EQ(stand_in::counts().launches, 2);
}

TEST(StandInSmallRuns, KeepOneBundleDecodedAtMost) {
  SmallRuns small;
  const at::Tensor of = seed();
  const Runs runs(small, 96, of, [](int) { return at::randn({2000}).to(kFirst); });
  const int64_t coded = stand_in::bytes_in_use(0);
  runs.together[40]->decoded();
  const int64_t of_one = stand_in::bytes_in_use(0) - coded;
  EXPECT_GE(of_one, 31 * 8000);
  runs.together[0]->decoded();
  runs.together[80]->decoded();
  EXPECT_EQ(stand_in::bytes_in_use(0) - coded, of_one);
  stand_in::reset_counts();
  for (int again = 0; again < 3; ++again) runs.together[80]->decoded();
  EXPECT_EQ(stand_in::counts().launches, 3);
  EXPECT_EQ(stand_in::bytes_in_use(0) - coded, of_one);
  runs.expect_alike();
}

TEST(StandInSmallRuns, OfAnyThreadsAreTheSame) {
  SmallRuns small;
  const at::Tensor of = seed(), x = at::randn({2000}).to(kFirst);
  std::vector<std::shared_ptr<const Encoded>> runs(200);
  std::vector<at::Tensor> decoded(runs.size());
  std::atomic<size_t> made = 0;
  std::thread other([&] {
    for (size_t next = 0; next < runs.size();) {
      if (next < made.load()) decoded[next] = runs[next]->decoded(), ++next;
    }
  });
  for (size_t i = 0; i < runs.size(); ++i) {
    runs[i] = rotated(kForm)->encode_among(small, x, {of, static_cast<int64_t>(i)});
    made.store(i + 1);
  }
  other.join();
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto alone = rotated(kForm)->encode(x, {of, static_cast<int64_t>(i)});
    ASSERT_TRUE(at::equal(decoded[i].cpu(), alone->decoded().cpu())) << i;
  }
}

TEST(StandInSmallRuns, ViewsOfLargeMemoryAndInferenceTensorsAreCodedAtOnce) {
  SmallRuns small;
  const at::Tensor of = seed();
  const at::Tensor large = at::zeros({9, 2000}).to(kFirst);
  at::Tensor inference;
  {
    const c10::InferenceMode mode;
    inference = at::zeros({2000}).to(kFirst);
  }
  stand_in::reset_counts();
  const auto view = rotated(kForm)->encode_among(small, large[3], {of, 0});
  const auto other = rotated(kForm)->encode_among(small, inference, {of, 0});
  EXPECT_EQ(stand_in::counts().launches, 2);
  const auto waits = rotated(kForm)->encode_among(small, large.slice(0, 0, 3), {of, 0});
  EXPECT_EQ(stand_in::counts().launches, 2);
  const c10::InferenceMode mode;
  EXPECT_EQ(waits->decoded().numel(), 6000);
}

TEST(StandInSmallRuns, LargeOnesAndTrellisesAreCodedAtOnce) {
  SmallRuns small;
  const at::Tensor of = seed();
  stand_in::reset_counts();
  const auto large = rotated(kForm)->encode_among(
      small, at::zeros({SmallRuns::kMostElements + 1}).to(kFirst), {of, 0});
  EXPECT_EQ(stand_in::counts().launches, 1);
  const auto trellis =
      rotated({2, 256, 4})->encode_among(small, at::zeros({2000}).to(kFirst), {of, 0});
  EXPECT_EQ(stand_in::counts().launches, 2);
}

TEST(StandInSmallRuns, ThatNobodyHoldsAreNotCoded) {
  SmallRuns small;
  const at::Tensor of = seed(), x = at::randn({2000}).to(kFirst);
  stand_in::reset_counts();
  rotated(kForm)->encode_among(small, x, {of, 0}).reset();
  small.settle();
  EXPECT_EQ(stand_in::counts().launches, 0);
}

TEST(StandInSmallRuns, AreHeldUntilTheyAreCoded) {
  SmallRuns small;
  const at::Tensor of = seed();
  const Runs runs(small, 3, of, any_size);  // whose inputs are gone
  small.settle();
  runs.expect_alike();
}

TEST(StandInSmallRuns, ThatWereChangedMeanwhileAreRefused) {
  SmallRuns small;
  const at::Tensor of = seed(), x = at::randn({2000}).to(kFirst), y = x * 2.0;
  const auto changed = rotated(kForm)->encode_among(small, x, {of, 0});
  const auto other = rotated(kForm)->encode_among(small, y, {of, 1});
  x.add_(1.0);
  small.settle();
  EXPECT_EQ(test::refusal([&] { changed->decoded(); }),
            "one of the variables needed for gradient computation has been modified by an inplace "
            "operation: a tensor of 2000 elements, which waited to be coded with others");
  EXPECT_TRUE(
      at::equal(other->decoded().cpu(), rotated(kForm)->encode(y, {of, 1})->decoded().cpu()));
  y.add_(1.0);  // which is coded
  EXPECT_EQ(other->decoded().numel(), 2000);
}

TEST(StandInSmallRuns, OfAnotherStreamAreWaitedFor) {
  for (uint64_t order = 0; order < 5; ++order) {
    stand_in::set_order(order);
    SmallRuns small;
    const at::Tensor of = seed(), x = at::randn({2000}).to(kFirst);
    const c10::Stream main = stand_in::current_stream(0), side = stand_in::pool_stream(0);
    std::shared_ptr<const Encoded> run, beside;
    c10::Event ready(kDevice);
    ready.record(main);
    ready.block(side);
    {
      const c10::StreamGuard guard(side);
      run = rotated(kForm)->encode_among(small, x, {of, 0});
      beside = rotated(kForm)->encode_among(small, x, {of, 1});
    }
    c10::Event done(kDevice);  // before any is coded
    done.record(side);
    done.block(main);
    const at::Tensor found = run->decoded();
    EXPECT_TRUE(at::equal(found.cpu(), rotated(kForm)->encode(x, {of, 0})->decoded().cpu()));
  }
}

TEST(StandInSmallRuns, HoldMemoryOfAnotherStreamUntilTheyAreCoded) {
  for (uint64_t order = 0; order < 5; ++order) {
    stand_in::set_order(order);
    SmallRuns small;
    const at::Tensor of = seed(), copy = at::randn({2000}).to(kFirst);
    const c10::Stream main = stand_in::current_stream(0), side = stand_in::pool_stream(0);
    at::Tensor x = copy.clone();
    std::shared_ptr<const Encoded> run;
    c10::Event ready(kDevice), done(kDevice);
    ready.record(main);
    ready.block(side);
    {
      const c10::StreamGuard guard(side);
      run = rotated(kForm)->encode_among(small, x, {of, 0});
    }
    done.record(side);  // whoever gave x to the side stream waits for it, and frees x
    done.block(main);
    x.reset();
    small.settle();
    const at::Tensor other = at::zeros({2000}, copy.options());  // in the memory of x, if it may
    const at::Tensor found = run->decoded();
    EXPECT_TRUE(at::equal(found.cpu(), rotated(kForm)->encode(copy, {of, 0})->decoded().cpu()));
  }
}

TEST(StandInSmallRuns, AreCodedAtOnceInAGraphAndNotInOneThatBeganLater) {
  SmallRuns small;
  const at::Tensor of = seed(), x = at::randn({2000}).to(kFirst);
  const c10::Stream side = stand_in::pool_stream(0);
  const c10::StreamGuard guard(side);
  const auto before = rotated(kForm)->encode_among(small, x, {of, 0});
  stand_in::finish_device(0);
  stand_in::Graph graph;
  graph.begin(side);
  stand_in::reset_counts();
  const auto within = rotated(kForm)->encode_among(small, x, {of, 1});
  EXPECT_EQ(stand_in::counts().launches, 1);
  EXPECT_NE(test::refusal([&] { small.settle(); }).find("accepted: a scope that ends before the "),
            std::string::npos);
  graph.end();
  graph.run(side);
  for (const auto& [run, offset] : {std::pair(before, 0), std::pair(within, 1)}) {
    const auto alone = rotated(kForm)->encode(x, {of, offset});
    EXPECT_TRUE(at::equal(run->decoded().cpu(), alone->decoded().cpu())) << offset;
  }
}

/// A hidden state that is updated many times.
test::SmallNetwork recurrent_network() {
  at::manual_seed(8);
  return {"recurrent",
          at::randn({32, 48}),
          {test::small_parameter({48, 48}, 0.1), test::small_parameter({48, 48}, 0.1)},
          [](const at::Tensor& x, const std::vector<at::Tensor>& p) {
            at::Tensor h = x;
            for (int i = 0; i < 40; ++i) h = at::linear(h, p[0]) - at::linear(h, p[1]) + x;
            return h.sum();
          }};
}

TEST(StandInSmallRuns, GradientsAreTheCpus) {
  const test::SmallNetwork network = recurrent_network(), there = network.on(kFirst);
  Compressor of_cpu({.bits = 2}), of_device({.bits = 2});
  for (int step = 0; step < 4; ++step) {
    const at::Tensor expected = network.gradient(&of_cpu);
    stand_in::reset_counts();
    ASSERT_TRUE(at::equal(there.gradient(&of_device), expected)) << of_device.report();
  }
  // Of 39 tensors that two operations each save; nothing was measured in the last step.
  EXPECT_EQ(stand_in::counts().launches, 4) << of_device.report();
}

TEST(StandInSmallRuns, AreCodedBeforeTheyAreChangedInPlace) {
  test::SmallNetwork network = recurrent_network();
  network.loss = [](const at::Tensor& x, const std::vector<at::Tensor>& p) {
    at::Tensor h = at::linear(x, p[0]);
    const at::Tensor out = at::linear(h, p[0]);
    {
      const at::NoGradGuard no_grad;
      h.zero_();
    }
    return out.sum() + at::linear(x, p[1]).sum();
  };
  const test::SmallNetwork there = network.on(kFirst);
  Compressor of_cpu({.bits = 2}), of_device({.bits = 2});
  for (int step = 0; step < 4; ++step) {
    const at::Tensor expected = network.gradient(&of_cpu);
    EXPECT_GT(expected.norm().item<double>(), 0.0);
    ASSERT_TRUE(at::equal(there.gradient(&of_device), expected)) << of_device.report();
  }
}

}  // namespace fewbit::codecs::small_runs_test

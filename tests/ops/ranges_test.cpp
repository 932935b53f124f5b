#include "ops/ranges.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "tests/ops/threads.hpp"

namespace fewbit::ops::ranges_test {

using kernels::kBlock;
using kernels::Range;
using test::Threads;

/// The ranges of `count` elements, in order.
std::vector<Range> ranges_of(int64_t count) {
  std::vector<Range> ranges;
  std::mutex mutex;
  for_ranges(count, [&](const Range& range) {
    const std::lock_guard lock(mutex);
    ranges.push_back(range);
  });
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  return ranges;
}

TEST(Ranges, CoverEveryElementOnceInWholeBlocksAlsoBeyond32Bits) {
  const int64_t limit = int64_t{1} << 31;
  for (const int threads : {1, 2, 7}) {
    const Threads guard(threads);
    for (const int64_t count : {int64_t{1}, kBlock - 1, kBlock, kBlock + 1, 1000 * kBlock + 3,
                                limit - 1, limit, limit + 17, 2 * limit + 17, int64_t{1} << 50}) {
      int64_t reached = 0;
      for (const Range& range : ranges_of(count)) {
        EXPECT_EQ(range.begin, reached);
        EXPECT_EQ(range.begin % kBlock, 0);
        EXPECT_LT(range.begin, range.end);
        EXPECT_TRUE(range.end % kBlock == 0 || range.end == count);
        EXPECT_EQ(range.count, count);
        reached = range.end;
      }
      EXPECT_EQ(reached, count);
    }
  }
  EXPECT_TRUE(ranges_of(0).empty());
}

// Clang has no OpenMP that shares libtorch's threads: see runtime/ops/CMakeLists.txt.
TEST(Ranges, RunInAsManyThreadsAsTorchHas) {
#if defined(__clang__)
  constexpr size_t kWanted = 1;
#else
  constexpr size_t kWanted = 4;
#endif
  const Threads guard(4);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  for_ranges(int64_t{1} << 20, [&](const Range&) {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(threads.size(), kWanted);
}

TEST(Ranges, StayInOneThreadInsideAParallelRegionAndForLittleWork) {
  const Threads guard(4);
  EXPECT_EQ(ranges_of(16 * kBlock).size(), 1u);
  for_ranges(int64_t{1} << 20,
             [](const Range&) { EXPECT_EQ(ranges_of(int64_t{1} << 20).size(), 1u); });
}

TEST(Ranges, BeginAtMultiplesOfALargerUnit) {
  const Threads guard(3);
  std::mutex mutex;
  int64_t reached = 0;
  for_ranges(
      100 * 2 * kBlock + 7,
      [&](const Range& range) {
        const std::lock_guard lock(mutex);
        EXPECT_EQ(range.begin % (2 * kBlock), 0);
        reached += range.end - range.begin;
      },
      2 * kBlock);
  EXPECT_EQ(reached, 100 * 2 * kBlock + 7);
}

TEST(Ranges, HandOnWhatABodyThrows) {
  const Threads guard(4);
  const auto run = [] {
    for_ranges(int64_t{1} << 20, [](const Range& range) {
      if (range.end == range.count) throw std::runtime_error("the last");
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_FALSE(at::in_parallel_region());
}

}  // namespace fewbit::ops::ranges_test

#include "report/parallel.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace fewbit::solver::parallel_test {

TEST(ParallelFor, DoesEachPieceOnceAndReportsAll) {
  std::vector<std::atomic<int>> visits(1000);
  size_t last = 0;
  parallel_for(
      visits.size(), [&](size_t i) { ++visits[i]; },
      [&](size_t done, size_t total) {
        EXPECT_EQ(done, last + 1);
        EXPECT_EQ(total, 1000U);
        last = done;
      });
  for (const auto& count : visits) EXPECT_EQ(count, 1);
  EXPECT_EQ(last, 1000U);
}

TEST(ParallelFor, PassesAFailureOnAndStops) {
  std::atomic<int> done = 0;
  const auto work = [&](size_t i) {
    if (i == 3) throw std::runtime_error("three");
    ++done;
  };
  try {
    parallel_for(100000, work);
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()), "three");
  }
  EXPECT_LT(done, 100000);
}

TEST(ParallelFor, NothingToDoIsNothing) {
  EXPECT_NO_THROW(parallel_for(0, [](size_t) { FAIL(); }));
}

}  // namespace fewbit::solver::parallel_test

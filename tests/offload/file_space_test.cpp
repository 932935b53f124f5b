// Which bytes of a file are free, against a map of its pages.
#include "offload/file_space.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace fewbit::offload::file_space_test {

constexpr int64_t kPage = 4096;

TEST(FileSpace, GivesNothingTwiceAndAllBack) {
  std::mt19937 random(1);
  FileSpace space;
  std::vector<bool> is_taken;
  std::vector<std::pair<int64_t, int64_t>> held;
  for (int step = 0; step < 20000; ++step) {
    if (held.empty() || random() % 2 == 0) {
      const int64_t bytes = 1 + static_cast<int64_t>(random() % (5 * kPage));
      const int64_t offset = space.take(bytes);
      ASSERT_EQ(offset % kPage, 0);
      for (int64_t page = offset / kPage; page * kPage < offset + bytes; ++page) {
        if (is_taken.size() <= static_cast<size_t>(page)) is_taken.resize(page + 1);
        ASSERT_FALSE(is_taken[page]);
        is_taken[page] = true;
      }
      held.emplace_back(offset, bytes);
    } else {
      std::swap(held[random() % held.size()], held.back());
      const auto [offset, bytes] = held.back();
      held.pop_back();
      space.give_back(offset, bytes);
      for (int64_t page = offset / kPage; page * kPage < offset + bytes; ++page) {
        is_taken[page] = false;
      }
    }
    ASSERT_EQ(space.taken(), std::count(is_taken.begin(), is_taken.end(), true) * kPage);
    while (!is_taken.empty() && !is_taken.back()) is_taken.pop_back();
    ASSERT_EQ(space.end(), static_cast<int64_t>(is_taken.size()) * kPage);
  }
  for (const auto& [offset, bytes] : held) space.give_back(offset, bytes);
  EXPECT_EQ(space.taken(), 0);
  EXPECT_EQ(space.end(), 0);
}

TEST(FileSpace, FillsTheFirstGapThatIsLargeEnough) {
  FileSpace space;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(space.take(kPage), i * kPage);
  space.give_back(3 * kPage, kPage);
  space.give_back(1 * kPage, kPage);
  EXPECT_EQ(space.take(2 * kPage), 5 * kPage);
  space.give_back(2 * kPage, kPage);  // which joins three
  EXPECT_EQ(space.take(3 * kPage), 1 * kPage);
  EXPECT_EQ(space.end(), 7 * kPage);
}

}  // namespace fewbit::offload::file_space_test

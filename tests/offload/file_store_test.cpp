// The CPU's memory in a file: what is put comes back, whatever the disk and other threads do.
#include "offload/file_store.hpp"

#include <atomic>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "fewbit/peak_bytes.hpp"
#include "tests/offload/support.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::offload::file_store_test {

std::shared_ptr<FileStore> new_store(size_t most_unwritten = FileStore::kMostUnwritten) {
  return std::make_shared<FileStore>(testing::TempDir(), most_unwritten);
}

std::unique_ptr<Slot> put(FileStore& store, const std::vector<char>& bytes) {
  return store.put(memory_with(bytes), bytes.size());
}

/// Counts itself while it lives.
c10::DataPtr counted(const std::vector<char>& bytes, std::atomic<int>& alive) {
  struct Owner {
    std::vector<char> bytes;
    std::atomic<int>& alive;
  };
  ++alive;
  auto* const owner = new Owner{bytes, alive};
  const auto free = [](void* context) {
    auto* const mine = static_cast<Owner*>(context);
    --mine->alive;
    delete mine;
  };
  return {owner->bytes.data(), owner, free, c10::Device(c10::kCPU)};
}

TEST(FileStore, GivesBackWhatWasPutAsOftenAsIsAsked) {
  const auto store = new_store();
  std::vector<std::unique_ptr<Slot>> slots;
  const std::vector<size_t> sizes = {1, 4095, 4096, 4097, 1 << 20, (3 << 20) + 5};
  for (size_t i = 0; i < sizes.size(); ++i) {
    slots.push_back(put(*store, bytes_of(sizes[i], static_cast<int>(i))));
  }
  for (const bool is_written : {false, true}) {
    if (is_written) store->settle();
    for (const bool is_fetched : {false, true}) {
      for (size_t i = 0; i < sizes.size(); ++i) {
        if (is_fetched) slots[i]->fetch();
        EXPECT_TRUE(holds(slots[i]->take(), bytes_of(sizes[i], static_cast<int>(i)))) << i;
      }
    }
  }
}

TEST(FileStore, HoldsTwoOfTheLargestSlotsAtMost) {
  constexpr int64_t kBytes = 4 << 20;
  const auto store = new_store();
  std::vector<std::unique_ptr<Slot>> slots;
  const std::vector<char> bytes = bytes_of(kBytes, 1);
  const int64_t peak = peak_bytes([&] {
    for (int i = 0; i < 12; ++i) slots.push_back(put(*store, bytes));
  });
  // One more is filled before it is put.
  EXPECT_LE(peak, 3 * kBytes);
  EXPECT_GE(peak, kBytes);
}

TEST(FileStore, LetsGoOfMemoryThatIsWritten) {
  const auto store = new_store();
  std::atomic<int> alive = 0;
  const std::vector<char> bytes = bytes_of(100000, 3);
  const auto slot = store->put(counted(bytes, alive), bytes.size());
  store->settle();
  for (int i = 0; i < 1000 && alive > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(alive, 0);
  EXPECT_TRUE(holds(slot->take(), bytes));
}

TEST(FileStore, HoldsNoMoreUnwrittenThanItMay) {
  const size_t size = 1 << 16;
  const auto store = new_store(3 * size);
  std::atomic<int> alive = 0;
  std::vector<std::unique_ptr<Slot>> slots;
  for (int i = 0; i < 100; ++i) {
    slots.push_back(store->put(counted(bytes_of(size, i), alive), size));
    EXPECT_LE(alive, 4);  // one of which is written, and on its way out
  }
  const std::vector<char> large = bytes_of(10 * size, 0);
  slots.push_back(put(*store, large));  // which must go some time
  EXPECT_TRUE(holds(slots.back()->take(), large));
}

TEST(FileStore, GivesSpaceBackAndDoesNotGrow) {
  const auto store = new_store();
  std::mt19937 random(2);
  for (int step = 0; step < 200; ++step) {
    std::vector<std::unique_ptr<Slot>> slots;
    for (int i = 0; i < 10; ++i) slots.push_back(put(*store, bytes_of(20000, i)));
    if (step % 3 == 0) store->settle();  // else some are dropped before they are written
    std::shuffle(slots.begin(), slots.end(), random);
  }
  for (int i = 0; i < 1000 && store->used_bytes() > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(store->used_bytes(), 0);
  const int64_t most = store->file_bytes();
  // Those of a step, and what the thread was at when they were dropped.
  EXPECT_LE(most, 11 * 20480);
}

TEST(FileStore, ForgetsWhatWasFetchedForNothing) {
  const auto store = new_store();
  const auto slot = put(*store, bytes_of(50000, 1));
  store->settle();
  for (int i = 0; i < 50; ++i) {
    slot->fetch();
    slot->forget();
    if (i % 2 == 0) slot->fetch();
    EXPECT_TRUE(holds(slot->take(), bytes_of(50000, 1)));
  }
}

TEST(FileStore, OutlivesWhoMadeIt) {
  auto store = new_store();
  std::vector<std::unique_ptr<Slot>> slots;
  for (int i = 0; i < 20; ++i) slots.push_back(put(*store, bytes_of(30000, i)));
  store.reset();
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(holds(slots[i]->take(), bytes_of(30000, i)));
  std::thread([slots = std::move(slots)] {}).join();
}

TEST(FileStore, ServesManyThreads) {
  const auto store = new_store(1 << 18);
  std::atomic<int> wrong = 0;
  const auto run = [&](int seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::vector<std::pair<std::unique_ptr<Slot>, int>> held;
    for (int step = 0; step < 400; ++step) {
      const size_t at = held.empty() ? 0 : random() % held.size();
      switch (held.empty() ? 0 : random() % 4) {
        case 0:
          held.emplace_back(
              put(*store, bytes_of(5000 + 7 * (seed * 1000 + step), seed * 1000 + step)),
              seed * 1000 + step);
          break;
        case 1:
          held[at].first->fetch();
          break;
        case 2:
          wrong +=
              !holds(held[at].first->take(), bytes_of(5000 + 7 * held[at].second, held[at].second));
          break;
        default:
          held.erase(held.begin() + static_cast<int64_t>(at));
      }
    }
  };
  std::vector<std::thread> threads;
  for (int seed = 0; seed < 4; ++seed) threads.emplace_back(run, seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(FileStore, SaysOnceThatADiskIsFullAndLosesNothing) {
  const auto store = new_store();
  const auto first = put(*store, bytes_of(50000, 1));
  store->settle();
  const auto refused = "fewbit: what is to leave memory cannot be written to a file in " +
                       testing::TempDir() +
                       ": File too large; it is still there (TMPDIR names another folder)";
  std::unique_ptr<Slot> second;
  {
    const FullDisk full(60000);
    second = put(*store, bytes_of(50000, 2));
    store->settle();
    EXPECT_EQ(test::refusal([&] { put(*store, bytes_of(10, 3)); }), refused);
    EXPECT_TRUE(holds(second->take(), bytes_of(50000, 2)));
    EXPECT_FALSE(store->takes());
    const auto third = put(*store, bytes_of(50000, 4));  // all the same: it stays in memory
    store->settle();
    EXPECT_TRUE(holds(third->take(), bytes_of(50000, 4)));
    EXPECT_TRUE(holds(first->take(), bytes_of(50000, 1)));
  }
  const auto fourth = put(*store, bytes_of(50000, 5));
  store->settle();
  EXPECT_TRUE(holds(fourth->take(), bytes_of(50000, 5)));
  EXPECT_TRUE(holds(second->take(), bytes_of(50000, 2)));
}

TEST(FileStore, NamesAFolderThatIsNotThere) {
  EXPECT_EQ(test::refusal([] { FileStore("/no/such/folder"); }),
            "fewbit: no file for what leaves memory in /no/such/folder: No such file or directory "
            "(TMPDIR names another folder)");
}

}  // namespace fewbit::offload::file_store_test

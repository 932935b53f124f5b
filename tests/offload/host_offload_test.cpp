// What is brought back ahead of its use, with a store that writes down what it is asked for.
#include "offload/host_offload.hpp"

#include <gtest/gtest.h>

#include "tests/offload/support.hpp"

namespace fewbit::offload::host_offload_test {

/// "put 0", "fetch 0", "forget 0", "take 0", "drop 0".
using Log = std::vector<std::string>;

class LoggingSlot final : public Slot {
 public:
  LoggingSlot(Log& log, c10::DataPtr memory, size_t bytes, int number)
      : log_(log), bytes_(bytes), memory_(std::move(memory)), number_(number) {}
  ~LoggingSlot() override { write("drop"); }
  void fetch() override { write("fetch"); }
  void forget() override { write("forget"); }
  c10::DataPtr take() override {
    write("take");
    const auto* const begin = static_cast<const char*>(memory_.get());
    return memory_with({begin, begin + bytes_});
  }

 private:
  void write(const char* what) {
    log_.push_back(std::string(what) + ' ' + std::to_string(number_));
  }

  Log& log_;
  size_t bytes_;
  c10::DataPtr memory_;
  int number_;
};

class LoggingStore final : public Store {
 public:
  std::unique_ptr<Slot> put(c10::DataPtr memory, size_t bytes) override {
    return std::make_unique<LoggingSlot>(log, std::move(memory), bytes, puts_++);
  }
  Log log;

 private:
  int puts_ = 0;
};

constexpr size_t kBytes = 1000;

/// Ten memories of so many bytes that are away, two of which may be ahead.
struct Ten {
  explicit Ten(std::vector<size_t> sizes = std::vector<size_t>(10, kBytes),
               size_t most_ahead = 2 * kBytes)
      : offload(std::make_shared<HostOffload>([this](c10::Device) { return store; }, most_ahead)) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      away.push_back(offload->put(memory_with(bytes_of(sizes[i], static_cast<int>(i))), sizes[i]));
    }
  }
  /// What the store was asked for when this one was taken.
  Log take(size_t i) {
    store->log.clear();
    EXPECT_TRUE(holds(away[i]->take(), bytes_of(kBytes, static_cast<int>(i))));
    return store->log;
  }

  std::shared_ptr<LoggingStore> store = std::make_shared<LoggingStore>();
  std::shared_ptr<HostOffload> offload;
  std::vector<std::unique_ptr<HostOffload::Away>> away;
};

TEST(HostOffload, BringsBackWhatComesNextInReverseOrder) {
  Ten ten;
  EXPECT_EQ(ten.take(9), Log({"take 9", "fetch 8", "fetch 7"}));
  EXPECT_EQ(ten.take(8), Log({"take 8", "fetch 6"}));
  EXPECT_EQ(ten.take(7), Log({"take 7", "fetch 5"}));
  ten.away.erase(ten.away.begin() + 6);
  EXPECT_EQ(ten.take(5), Log({"take 5", "fetch 4", "fetch 3"}));
}

TEST(HostOffload, BringsBackTwoOfTheLargestAtMost) {
  Ten ten(std::vector<size_t>(10, kBytes), HostOffload::kMostAhead);
  EXPECT_EQ(ten.take(9), Log({"take 9", "fetch 8", "fetch 7"}));
}

TEST(HostOffload, BringsNothingBackTwiceInForwardOrder) {
  Ten ten;
  for (size_t pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < 10; ++i) EXPECT_EQ(ten.take(i), Log({"take " + std::to_string(i)}));
  }
}

TEST(HostOffload, GoesOnAsBeforeInASecondPass) {
  Ten ten;
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_EQ(ten.take(9), Log({"take 9", "fetch 8", "fetch 7"}));
    for (size_t i = 8; i > 0; --i) ten.take(i);
    EXPECT_EQ(ten.take(0), Log({"take 0"}));
  }
}

TEST(HostOffload, KeepsToTheOrderWhereOneIsOutOfIt) {
  Ten ten;
  ten.take(9);
  EXPECT_EQ(ten.take(2), Log({"take 2"}));
  EXPECT_EQ(ten.take(8), Log({"take 8", "fetch 6"}));
}

TEST(HostOffload, FollowsAnotherOrderAfterAWhile) {
  Ten ten;
  ten.take(9);
  ten.take(5);
  ten.take(4);
  EXPECT_EQ(ten.take(3), Log({"take 3", "forget 8", "forget 7", "fetch 2", "fetch 1"}));
  EXPECT_EQ(ten.take(2), Log({"take 2", "fetch 0"}));
}

TEST(HostOffload, MakesRoomForWhatComesSooner) {
  Ten ten;
  EXPECT_EQ(ten.take(2), Log({"take 2", "fetch 1", "fetch 0"}));
  EXPECT_EQ(ten.take(9), Log({"take 9", "forget 0", "fetch 8", "forget 1", "fetch 7"}));
}

TEST(HostOffload, BringsOneBackThatIsLargerThanAll) {
  Ten ten({kBytes, 5 * kBytes, kBytes});
  EXPECT_EQ(ten.take(2), Log({"take 2", "fetch 1"}));
}

}  // namespace fewbit::offload::host_offload_test

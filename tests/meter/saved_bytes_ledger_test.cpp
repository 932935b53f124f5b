// The moment of the answer, and books that stay small.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "runtime/meter/ledger.hpp"

namespace saved_bytes_ledger_test {

using fewbit::SavedBytes;
using fewbit::session::Ledger;
using fewbit::session::memory_of;
using fewbit::session::SaveEvent;

SaveEvent event(const at::Tensor& tensor, std::uint64_t node) {
  SaveEvent result;
  result.facts.operation = "operation " + std::to_string(node);
  result.node = {1, node};
  result.memory = memory_of(tensor);
  return result;
}

at::Tensor bytes(std::int64_t count) {
  return at::empty({count}, at::kByte);
}

TEST(SavedBytesLedger, AnswersForTheMomentAtWhichMostWasKept) {
  const at::Tensor a = bytes(100), b = bytes(50), c = bytes(120);
  Ledger ledger;
  const auto first = ledger.pack(event(a, 1));
  ledger.pack(event(b, 2));
  EXPECT_EQ(ledger.bytes(false), 150);
  ledger.release(first);
  ledger.pack(event(bytes(20), 3));
  EXPECT_EQ(ledger.bytes(false), 150);
  EXPECT_EQ(ledger.entries().size(), 2) << "a and b";
  ledger.pack(event(c, 4));
  EXPECT_EQ(ledger.bytes(false), 190) << "b, 20 and c; not a";
  EXPECT_EQ(ledger.entries().size(), 3);
}

TEST(SavedBytesLedger, SharedStorageStaysUntilTheLastLetsGo) {
  const at::Tensor a = bytes(100), b = bytes(60);
  Ledger ledger;
  const auto first = ledger.pack(event(a, 1));
  const auto second = ledger.pack(event(a, 2));
  ledger.release(first);
  ledger.pack(event(b, 3));
  EXPECT_EQ(ledger.bytes(false), 160);
  ledger.release(second);
  ledger.pack(event(bytes(90), 4));
  EXPECT_EQ(ledger.bytes(false), 160) << "60 and 90 are less";
  EXPECT_EQ(ledger.entries().size(), 2);
}

TEST(SavedBytesLedger, MemoryAtTheSameAddressLaterIsNotTheSameStorage) {
  Ledger ledger;
  for (std::uint64_t node = 1; node <= 64; ++node) ledger.pack(event(bytes(10), node));
  EXPECT_EQ(ledger.bytes(false), 640) << "every tensor died, none was released by autograd";
  for (const auto& saved : ledger.entries()) EXPECT_FALSE(saved.shared);
}

TEST(SavedBytesLedger, ForgetsReleasesOfBeforeAReset) {
  const at::Tensor a = bytes(100);
  Ledger ledger;
  const auto before = ledger.pack(event(a, 1));
  ledger.reset();
  EXPECT_EQ(ledger.bytes(false), 0);
  ledger.pack(event(a, 2));
  ledger.release(before);
  EXPECT_EQ(ledger.bytes(false), 100);
  EXPECT_EQ(ledger.entries().at(0).operation, "operation 2");
}

TEST(SavedBytesLedger, StaysSmallOverATrainingLoop) {
  const at::Tensor x = bytes(30);
  Ledger ledger;
  for (std::uint64_t step = 0; step < 20000; ++step) {
    const auto first = ledger.pack(event(x, 2 * step + 1));
    const auto second = ledger.pack(event(bytes(10), 2 * step + 2));
    ledger.release(first);
    ledger.release(second);
    ASSERT_LE(ledger.size(), 8) << step;
  }
  EXPECT_EQ(ledger.entries().size(), 2);
}

TEST(SavedBytesLedger, LoopUnderOneWatchAnswersForOneStep) {
  const at::Tensor leaf = at::randn({16, 8}).requires_grad_(true);
  SavedBytes meter;
  const auto watch = meter.watch();
  for (int step = 0; step < 200; ++step) {
    const at::Tensor x = leaf.clone();
    (at::gelu(x) + at::silu(x)).sum().backward();
  }
  EXPECT_EQ(meter.unique_bytes(), 16 * 8 * 4);
  EXPECT_EQ(meter.entries().size(), 2);
}

}  // namespace saved_bytes_ledger_test

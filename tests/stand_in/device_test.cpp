// The stand-in itself: each fault that it is there to show is planted here, and seen.
#include "tests/stand_in/device/device.hpp"

#include <csignal>
#include <cstring>
#include <optional>
#include <thread>

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gtest/gtest.h>

#include "tests/stand_in/device/counts.hpp"
#include "tests/stand_in/device/memory.hpp"
#include "tests/stand_in/device/streams.hpp"

namespace fewbit::stand_in_test {

using stand_in::kDevice;

const c10::Device kFirst(kDevice, 0), kSecond(kDevice, 1);
constexpr uint64_t kOrders = 12;

/// Of orders in which streams run, those in which `is_right` is false.
template <class Function>
int wrong_orders(const Function& is_right) {
  int wrong = 0;
  for (uint64_t order = 0; order < kOrders; ++order) {
    stand_in::set_order(order);
    wrong += is_right() ? 0 : 1;
    for (c10::DeviceIndex i = 0; i < stand_in::kDevices; ++i) stand_in::finish_device(i);
  }
  return wrong;
}

c10::Stream another_stream() {
  return stand_in::pool_stream(0);
}

TEST(StandIn, ComputesWhatTheCpuComputes) {
  const at::Tensor x = at::randn({5, 7}), y = at::randn({7, 3});
  EXPECT_TRUE(at::equal(at::mm(x.to(kFirst), y.to(kFirst)).cpu(), at::mm(x, y)));
  at::Tensor z = x.to(kSecond).t();
  z.mul_(2).select(0, 3).zero_();
  at::Tensor expected = x.clone().t();
  expected.mul_(2).select(0, 3).zero_();
  EXPECT_TRUE(at::equal(z.cpu(), expected));
  EXPECT_EQ(z.device(), kSecond);
  EXPECT_EQ(z.strides(), expected.strides());
}

TEST(StandIn, AHostReadOfDeviceMemoryFaults) {
  const at::Tensor x = at::ones({100}, kFirst);
  EXPECT_EXIT(std::exit(static_cast<int>(x.const_data_ptr<float>()[3])),
              testing::KilledBySignal(SIGSEGV), "");
}

TEST(StandIn, AMissingWaitBetweenStreamsIsSeen) {
  const auto is_right = [](bool waits) {
    const at::Tensor x = at::ones({1000}, kFirst);
    c10::Event made(kDevice), written(kDevice);
    made.record(stand_in::current_stream(0));
    at::Tensor y;
    {
      const c10::StreamGuard guard(another_stream());
      made.block(stand_in::current_stream(0));
      y = x + 1;
      written.record(stand_in::current_stream(0));
    }
    if (waits) written.block(stand_in::current_stream(0));
    const bool result = at::equal((y * 2).cpu(), at::full({1000}, 4.0f));
    stand_in::record_stream(y.storage().data_ptr(), stand_in::current_stream(0));
    return result;
  };
  // What is read before it is written is what was in the memory.
  EXPECT_GT(wrong_orders([&] { return is_right(false); }), 2);
  EXPECT_EQ(wrong_orders([&] { return is_right(true); }), 0);
}

TEST(StandIn, AMissingRecordStreamIsSeen) {
  const auto is_right = [](bool records) {
    const at::Tensor host = at::empty({1000}, at::TensorOptions().pinned_memory(true));
    const c10::Stream copies = another_stream();
    {
      const at::Tensor x = at::ones({1000}, kFirst) + 1;
      c10::Event ready(kDevice);
      ready.record(stand_in::current_stream(0));
      ready.block(copies);
      {
        const c10::StreamGuard guard(copies);
        host.copy_(x, /*non_blocking=*/true);
      }
      if (records) x.record_stream(copies);
    }
    const at::Tensor y = at::full({1000}, 7.0f, kFirst);
    y.sum().item<float>();
    stand_in::finish(copies);
    return at::equal(host, at::full({1000}, 2.0f));
  };
  EXPECT_GT(wrong_orders([&] { return is_right(false); }), 2);
  EXPECT_EQ(wrong_orders([&] { return is_right(true); }), 0);
}

TEST(StandIn, PinnedMemoryThatNobodyWaitedForIsNotThereYet) {
  const auto is_right = [](bool waits) {
    const at::Tensor x = at::ones({1000}, kFirst);
    const at::Tensor host = at::empty({1000}, at::TensorOptions().pinned_memory(true));
    host.copy_(x, /*non_blocking=*/true);
    if (waits) c10::impl::VirtualGuardImpl(kDevice).synchronizeStream(stand_in::current_stream(0));
    return at::equal(host, at::ones({1000}));
  };
  EXPECT_GT(wrong_orders([&] { return is_right(false); }), 2);
  EXPECT_EQ(wrong_orders([&] { return is_right(true); }), 0);
}

TEST(StandIn, ATensorOnTheWrongDeviceIsRefused) {
  const at::Tensor x = at::ones({3}, kFirst);
  EXPECT_THROW(x + at::ones({3}, kSecond), c10::Error);
  EXPECT_THROW(x + at::ones({3}), c10::Error);
  EXPECT_TRUE(at::equal((x + at::scalar_tensor(2.0)).cpu(), at::full({3}, 3.0f)));
}

TEST(StandIn, AWriteBehindABlockIsSeen) {
  const auto write_behind = [] {
    const at::Tensor x = at::empty({100}, at::TensorOptions(kFirst).dtype(at::kByte));
    auto* const at = static_cast<std::byte*>(x.mutable_data_ptr());
    stand_in::enqueue(stand_in::current_stream(0), [=] { at[101] = std::byte{1}; });
  };
  stand_in::set_order(0);
  stand_in::finish_device(0);
  write_behind();
  EXPECT_THROW(stand_in::finish_device(0), c10::Error);
}

TEST(StandIn, CountsWaitsAndCopies) {
  const at::Tensor x = at::ones({10}, kFirst);
  const at::Tensor pinned = at::empty({10}, at::TensorOptions().pinned_memory(true));
  stand_in::reset_counts();
  pinned.copy_(x, /*non_blocking=*/true);
  const at::Tensor y = at::empty({10}, kFirst);
  y.copy_(pinned, /*non_blocking=*/true);
  y.copy_(x);
  EXPECT_EQ(stand_in::counts().waits, 0);
  x.sum().item<float>();
  x.cpu();
  pinned.to(kSecond);
  at::equal(x, y);
  const stand_in::Counts counts = stand_in::counts();
  EXPECT_EQ(counts.waits, 4);
  EXPECT_EQ(counts.copies_to_host, 3);
  EXPECT_EQ(counts.bytes_to_host, 84);
  EXPECT_EQ(counts.copies_to_device, 2);
  EXPECT_EQ(counts.bytes_to_device, 80);
  EXPECT_EQ(counts.copies_within, 1);
  const stand_in::NoWaiting guard;
  EXPECT_THROW(x.cpu(), c10::Error);
}

TEST(StandIn, GivesFreedMemoryToTheSameStreamAtOnce) {
  const void* at = nullptr;
  {
    const at::Tensor x = at::empty({1234}, kFirst);
    at = x.const_data_ptr();
  }
  const int64_t before = stand_in::bytes_in_use(0);
  {
    const c10::StreamGuard guard(another_stream());
    EXPECT_NE(at::empty({1234}, kFirst).const_data_ptr(), at);
  }
  const at::Tensor y = at::empty({1234}, kFirst);
  EXPECT_EQ(y.const_data_ptr(), at);
  EXPECT_EQ(stand_in::bytes_in_use(0), before + 4 * 1234);
}

TEST(StandIn, DrawsNumbersOfItsOwn) {
  const auto draw = [](c10::Device device) {
    return at::dropout(at::randn({100}, device), 0.5, true).cpu();
  };
  at::manual_seed(3);
  const at::Tensor first = draw(kFirst);
  EXPECT_TRUE(at::equal(draw(kSecond), first));
  EXPECT_FALSE(at::equal(draw(kFirst), first));
  at::manual_seed(3);
  const at::Tensor normals = at::randn({100});
  at::manual_seed(3);
  EXPECT_TRUE(at::equal(at::randn({100}, kFirst).cpu(), normals));
  EXPECT_TRUE(at::equal(at::randn({100}), normals)) << "the CPU's generator moved on";
  at::Generator generator = stand_in::default_generator(1);
  const at::Tensor state = generator.get_state();
  const at::Tensor again = draw(kSecond);
  generator.set_state(state);
  EXPECT_TRUE(at::equal(draw(kSecond), again));
}

TEST(StandIn, CopiesBetweenDevicesInOrder) {
  EXPECT_EQ(wrong_orders([] {
              const at::Tensor x = at::ones({1000}, kFirst) + 1;
              const at::Tensor y = x.to(kSecond, /*non_blocking=*/true) + 1;
              return at::equal((y.to(kFirst) + x).cpu(), at::full({1000}, 5.0f));
            }),
            0);
}

TEST(StandIn, EveryThreadHasDeviceAndStreamsOfItsOwn) {
  const c10::StreamGuard guard(
      c10::impl::VirtualGuardImpl(kDevice).getStreamFromGlobalPool(kSecond));
  EXPECT_EQ(stand_in::current_device(), 1);
  std::thread([] {
    EXPECT_EQ(stand_in::current_device(), 0);
    EXPECT_EQ(stand_in::current_stream(1), stand_in::default_stream(1));
  }).join();
  EXPECT_NE(stand_in::current_stream(1), stand_in::default_stream(1));
}

}  // namespace fewbit::stand_in_test

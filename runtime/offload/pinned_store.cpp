// By torch's guards that are the same for every device with streams, so that this is compiled, and
// read by the linter, where there is no CUDA either.
#include "offload/pinned_store.hpp"

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/Event.h>
#include <c10/core/Storage.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace fewbit::offload {

namespace {

/// A device with its current stream, and the one that copies.
class Lane {
 public:
  explicit Lane(c10::Device device)
      : device_(device), guard_(device.type()), copies_(guard_.getStreamFromGlobalPool(device)) {}

  /// Memory of the device, to be had back from the current stream.
  at::Tensor on_device(int64_t bytes) const {
    return at::empty({bytes}, at::TensorOptions().dtype(at::kByte).device(device_));
  }

  at::Tensor on_device(c10::DataPtr memory, int64_t bytes) const {
    const c10::Storage storage(c10::Storage::use_byte_size_t(), static_cast<size_t>(bytes),
                               std::move(memory));
    return on_device(0).set_(storage, 0, {bytes}, {1});
  }

  /// After what the current stream has been given so far. `on_device`, one of both, may be freed at
  /// once: it is used again only after the copy.
  c10::Event copy(const at::Tensor& to, const at::Tensor& from, const at::Tensor& on_device) const {
    c10::Event before(device_.type());
    before.record(guard_.getStream(device_));
    c10::Event copied(device_.type());
    {
      const c10::StreamGuard guard(copies_);
      before.block(copies_);
      to.copy_(from, /*non_blocking=*/true);
      copied.record(copies_);
    }
    guard_.recordDataPtrOnStream(on_device.storage().data_ptr(), copies_);
    return copied;
  }

  /// The memory of a tensor that has arrived, for the current stream.
  c10::DataPtr arrived(const at::Tensor& tensor, const c10::Event& copied) const {
    const c10::Stream current = guard_.getStream(device_);
    copied.block(current);
    guard_.recordDataPtrOnStream(tensor.storage().data_ptr(), current);
    return tensor.storage().unsafeGetStorageImpl()->set_data_ptr(c10::DataPtr(nullptr, device_));
  }

 private:
  c10::Device device_;
  c10::impl::VirtualGuardImpl guard_;
  c10::Stream copies_;
};

class PinnedSlot final : public Slot {
 public:
  PinnedSlot(std::shared_ptr<const Lane> lane, c10::DataPtr memory, size_t bytes)
      : lane_(std::move(lane)),
        host_(at::empty({static_cast<int64_t>(bytes)},
                        at::TensorOptions().dtype(at::kByte).pinned_memory(true))) {
    const at::Tensor from = lane_->on_device(std::move(memory), host_.numel());
    lane_->copy(host_, from, from);  // what reads it comes later on the same stream
  }

  void fetch() override {
    const std::lock_guard lock(mutex_);
    fetch_locked();
  }

  void forget() override {
    const std::lock_guard lock(mutex_);
    back_.reset();
  }

  c10::DataPtr take() override {
    const std::lock_guard lock(mutex_);
    fetch_locked();
    const at::Tensor back = std::exchange(back_, {});
    return lane_->arrived(back, *copied_);
  }

 private:
  void fetch_locked() {
    if (back_.defined()) return;
    const at::Tensor back = lane_->on_device(host_.numel());
    copied_.emplace(lane_->copy(back, host_, back));
    back_ = back;
  }

  std::shared_ptr<const Lane> lane_;
  at::Tensor host_;
  std::mutex mutex_;
  at::Tensor back_;  ///< undefined: not fetched
  std::optional<c10::Event> copied_;
};

class PinnedStore final : public Store {
 public:
  explicit PinnedStore(c10::Device device) : lane_(std::make_shared<const Lane>(device)) {}

  std::unique_ptr<Slot> put(c10::DataPtr memory, size_t bytes) override {
    return std::make_unique<PinnedSlot>(lane_, std::move(memory), bytes);
  }

 private:
  std::shared_ptr<const Lane> lane_;
};

}  // namespace

std::shared_ptr<Store> pinned_store(c10::Device device) {
  return std::make_shared<PinnedStore>(device);
}

}  // namespace fewbit::offload

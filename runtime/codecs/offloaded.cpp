// Any codec's tensors in another place: their storages are emptied, and filled while they are read.
#include "codecs/offloaded.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include <c10/core/Storage.h>

namespace fewbit::codecs {

namespace {

/// Below this, what is known of its place is as much.
constexpr size_t kFewBytes = 4096;

/// Whether it is what its storage is for, and only `encoded`, which holds it, knows it.
bool leaves(const at::Tensor& tensor, const Encoded& encoded) {
  return tensor.defined() && tensor.has_storage() && !tensor.is_meta() &&
         tensor.use_count() == encoded.references() && tensor.storage().use_count() == 1 &&
         tensor.storage().nbytes() >= kFewBytes;
}

/// A storage whose memory is offloaded.
class Part {
 public:
  Part(const c10::Storage& storage, offload::HostOffload& offload)
      : storage_(storage), bytes_(storage.nbytes()), away_(offload.put(emptied(), bytes_)) {}

  c10::DataPtr take() const { return away_->take(); }
  void fill(c10::DataPtr memory) const {
    storage_.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(memory));
    storage_.unsafeGetStorageImpl()->set_nbytes(bytes_);
  }
  void empty() const noexcept { emptied(); }

 private:
  c10::DataPtr emptied() const {
    c10::StorageImpl* const storage = storage_.unsafeGetStorageImpl();
    storage->set_nbytes(size_t{0});
    return storage->set_data_ptr(c10::DataPtr(nullptr, storage->device()));
  }

  c10::Storage storage_;
  size_t bytes_;
  std::unique_ptr<const offload::HostOffload::Away> away_;
};

class OffloadedRun final : public Encoded {
 public:
  OffloadedRun(std::shared_ptr<const Encoded> inner, offload::HostOffload& offload)
      : inner_(std::move(inner)) {
    for (const at::Tensor& tensor : inner_->tensors()) {
      if (leaves(tensor, *inner_)) {
        parts_.emplace_back(tensor.storage(), offload);
      } else {
        held_.push_back(tensor);
      }
    }
  }

  at::Tensor decoded() const override {
    const std::lock_guard lock(mutex_);
    const Filled filled(parts_);
    return inner_->decoded();
  }

  at::TensorList tensors() const override { return held_; }

 private:
  /// The tensors are all there as long as this lives.
  class Filled {
   public:
    explicit Filled(const std::vector<Part>& parts) : parts_(parts) {
      std::vector<c10::DataPtr> memories;
      for (const Part& part : parts) memories.push_back(part.take());
      for (size_t i = 0; i < parts.size(); ++i) parts[i].fill(std::move(memories[i]));
    }
    ~Filled() {
      for (const Part& part : parts_) part.empty();
    }
    Filled(const Filled&) = delete;
    Filled& operator=(const Filled&) = delete;

   private:
    const std::vector<Part>& parts_;
  };

  std::shared_ptr<const Encoded> inner_;
  std::vector<at::Tensor> held_;
  std::vector<Part> parts_;
  mutable std::mutex mutex_;
};

}  // namespace

int64_t bytes_to_offload(const Encoded& encoded) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : encoded.tensors()) {
    if (leaves(tensor, encoded)) bytes += static_cast<int64_t>(tensor.nbytes());
  }
  return bytes;
}

std::shared_ptr<const Encoded> offloaded(std::shared_ptr<const Encoded> encoded,
                                         offload::HostOffload& offload) {
  return std::make_shared<OffloadedRun>(std::move(encoded), offload);
}

}  // namespace fewbit::codecs

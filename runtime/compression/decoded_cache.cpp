#include "compression/decoded_cache.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "compression/recompute/changing_run.hpp"
#include "ops/layout.hpp"
#include "trace/running_operations.hpp"
#include "trace/streams.hpp"

namespace fewbit::session {

namespace {

class HoldingRun final : public ChangingRun, public std::enable_shared_from_this<HoldingRun> {
 public:
  HoldingRun(std::shared_ptr<const codecs::Encoded> run, std::shared_ptr<DecodedCache> held,
             std::optional<c10::Stream> stream)
      : run_(std::move(run)), held_(std::move(held)), stream_(stream) {}
  ~HoldingRun() override {
    if (held_) held_->drop(this);
  }
  HoldingRun(const HoldingRun&) = delete;
  HoldingRun& operator=(const HoldingRun&) = delete;

  at::Tensor decoded() const override {
    if (at::Tensor decoded = found(); decoded.defined()) {
      if (is_last_use()) held_->drop(this);
      return decoded;
    }
    note_reader();
    at::Tensor decoded = run_->decoded();
    if (held_ && is_in_backward() && !is_last_use()) held_->add(this, decoded);
    return decoded;
  }

  bool has_parts() const override { return run_->has_parts(); }
  at::Tensor decoded(int64_t begin, int64_t end) const override {
    if (const at::Tensor decoded = found(); decoded.defined()) {
      return ops::slice_of(decoded, begin, end);
    }
    note_reader();
    return run_->decoded(begin, end);
  }

  at::TensorList tensors() const override { return run_->tensors(); }
  bool is_settled() const override { return session::is_settled(*run_); }
  void when_changed(const std::function<void()>& tell) const override {
    session::when_changed(*run_, tell);
  }

 private:
  /// Whoever may use it owns it until its backward is over.
  bool is_last_use() const { return weak_from_this().use_count() <= 1; }

  at::Tensor found() const { return held_ ? held_->find(this) : at::Tensor(); }

  /// The memory is the stream's that coded. What another one reads stays until that is done.
  void note_reader() const {
    if (!stream_) return;
    const c10::impl::VirtualGuardImpl guard(stream_->device_type());
    const c10::Stream reader = guard.getStream(stream_->device());
    if (reader == *stream_) return;
    for (const at::Tensor& tensor : run_->tensors()) {
      if (tensor.defined() && tensor.device() == stream_->device()) {
        guard.recordDataPtrOnStream(tensor.storage().data_ptr(), reader);
      }
    }
  }

  std::shared_ptr<const codecs::Encoded> run_;
  std::shared_ptr<DecodedCache> held_;  ///< null: nothing is held
  std::optional<c10::Stream> stream_;
};

}  // namespace

void DecodedCache::hold_at_least(int64_t bytes) {
  if (!follows_largest_) return;
  const std::lock_guard lock(mutex_);
  most_bytes_ = std::max(most_bytes_, bytes);
}

at::Tensor DecodedCache::find(const codecs::Encoded* run) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(held_, run, &Held::run);
  if (found == held_.end() || found->decoded._version() != found->version) return {};
  return found->stream == current_stream(found->decoded) ? found->decoded : at::Tensor();
}

void DecodedCache::add(const codecs::Encoded* run, const at::Tensor& decoded) {
  const auto bytes = static_cast<int64_t>(decoded.nbytes());
  std::list<Held> dropped;  // freed without the lock
  const std::lock_guard lock(mutex_);
  drop(run, dropped);
  if (bytes > most_bytes_) return;
  while (bytes_ + bytes > most_bytes_) drop_oldest(dropped);
  held_.push_front({run, decoded, decoded._version(), current_stream(decoded)});
  bytes_ += bytes;
}

void DecodedCache::drop(const codecs::Encoded* run) {
  std::list<Held> dropped;
  const std::lock_guard lock(mutex_);
  drop(run, dropped);
}

void DecodedCache::drop(const codecs::Encoded* run, std::list<Held>& dropped) {
  const auto found = std::ranges::find(held_, run, &Held::run);
  if (found == held_.end()) return;
  bytes_ -= static_cast<int64_t>(found->decoded.nbytes());
  dropped.splice(dropped.begin(), held_, found);
}

void DecodedCache::drop_oldest(std::list<Held>& dropped) {
  bytes_ -= static_cast<int64_t>(held_.back().decoded.nbytes());
  dropped.splice(dropped.begin(), held_, std::prev(held_.end()));
}

std::shared_ptr<const codecs::Encoded> holding(std::shared_ptr<const codecs::Encoded> run,
                                               std::shared_ptr<DecodedCache> held,
                                               std::optional<c10::Stream> stream) {
  if (!held && !stream) return run;
  return std::make_shared<HoldingRun>(std::move(run), std::move(held), stream);
}

}  // namespace fewbit::session

#include "compression/stored_run.hpp"

#include <utility>

#include <c10/util/Exception.h>

#include "ops/layout.hpp"

namespace fewbit::session {

StoredRun::StoredRun(std::shared_ptr<const codecs::Encoded> codes) : codes_(std::move(codes)) {}

StoredRun::StoredRun(const at::Tensor& view)
    : view_(view.tensor_data()), version_(view._version()), is_settled_(false) {}

StoredRun::Held StoredRun::held() const {
  const std::lock_guard lock(mutex_);
  return {codes_, view_};  // what runs now may have it coded
}

at::Tensor StoredRun::unchanged(const at::Tensor& view) const {
  TORCH_CHECK(
      !has_changed(),
      "one of the variables needed for gradient computation has been modified by an inplace "
      "operation: ",
      view.toString(), " ", view.sizes(), ": it is at version ", view._version(),
      "; expected version ", version_, " (fewbit::Compressor holds it as it was saved)");
  return ops::seen_as(ops::dense(view), {view.numel()}, {1});
}

at::Tensor StoredRun::decoded() const {
  const auto [codes, view] = held();
  return codes ? codes->decoded() : unchanged(view).clone();
}

bool StoredRun::has_parts() const {
  const Held now = held();
  return !now.codes || now.codes->has_parts();
}

at::Tensor StoredRun::decoded(int64_t begin, int64_t end) const {
  const auto [codes, view] = held();
  return codes ? codes->decoded(begin, end) : ops::slice_of(unchanged(view), begin, end).clone();
}

at::TensorList StoredRun::tensors() const {
  const std::lock_guard lock(mutex_);
  return codes_ ? codes_->tensors() : at::TensorList(view_);
}

bool StoredRun::is_settled() const {
  const std::lock_guard lock(mutex_);
  return is_settled_;
}

bool StoredRun::has_changed() const {
  const std::lock_guard lock(mutex_);
  return !codes_ && view_._version() != version_;
}

void StoredRun::settle(std::shared_ptr<const codecs::Encoded> codes) {
  {
    const std::lock_guard lock(mutex_);
    codes_ = std::move(codes);
    is_settled_ = true;
    if (codes_) view_.reset();
  }
  tell();
}

void StoredRun::settle_exactly(std::shared_ptr<const codecs::Encoded> numbers) {
  {
    const std::lock_guard lock(mutex_);
    is_exact_ = true;
  }
  settle(std::move(numbers));
}

void StoredRun::hold(const at::Tensor& view) {
  {
    const std::lock_guard lock(mutex_);
    view_ = view;
    version_ = view._version();
    is_settled_ = true;
    codes_.reset();
  }
  tell();
}

bool StoredRun::hold_again(const at::Tensor& view) {
  {
    const std::lock_guard lock(mutex_);
    if (is_exact_ || view._version() != version_) return false;
    view_ = view;
    codes_.reset();
    is_settled_ = true;
  }
  tell();
  return true;
}

void StoredRun::when_changed(const std::function<void()>& tell) const {
  const std::lock_guard lock(mutex_);
  listeners_.push_back(tell);
}

void StoredRun::forget_listeners() {
  std::vector<std::function<void()>> forgotten;  // freed without the lock
  const std::lock_guard lock(mutex_);
  forgotten.swap(listeners_);
}

void StoredRun::tell() const {
  std::unique_lock lock(mutex_);
  const auto listeners = listeners_;
  lock.unlock();
  for (const auto& listener : listeners) listener();
}

}  // namespace fewbit::session

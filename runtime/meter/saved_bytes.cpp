#include "fewbit/saved_bytes.hpp"

#include "meter/explanation.hpp"
#include "meter/forecast.hpp"
#include "meter/ledger.hpp"

namespace fewbit {

SavedBytes::Watch::Watch(const std::shared_ptr<session::Ledger>& ledger)
    : use_(std::make_unique<session::SavedTensorUse>("fewbit::SavedBytes::watch", ledger)) {}

SavedBytes::Watch::~Watch() = default;

SavedBytes::SavedBytes() : ledger_(std::make_shared<session::Ledger>()) {}

SavedBytes::~SavedBytes() = default;

SavedBytes::Watch SavedBytes::watch() {
  return Watch(ledger_);
}

void SavedBytes::set_apart(at::TensorList tensors) {
  for (const at::Tensor& tensor : tensors) {
    if (tensor.defined()) ledger_->set_apart(session::memory_of(tensor));
  }
}

std::int64_t SavedBytes::unique_bytes() const {
  return ledger_->bytes(false);
}

std::int64_t SavedBytes::parameter_bytes() const {
  return ledger_->bytes(true);
}

std::vector<SavedTensor> SavedBytes::entries() const {
  return ledger_->entries();
}

std::int64_t SavedBytes::unique_bytes_in_scope(Bits bits) const {
  return session::Forecast(entries(), bits).bytes();
}

std::string SavedBytes::explain(Bits bits) const {
  const std::vector<SavedTensor> saved = entries();
  return session::explain_saved(saved) + session::Forecast(saved, bits).text();
}

void SavedBytes::reset() {
  ledger_->reset();
}

}  // namespace fewbit

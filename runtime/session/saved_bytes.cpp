#include "fewbit/saved_bytes.hpp"

#include "session/saved_bytes_engine.hpp"
#include "session/saved_bytes_explain.hpp"
#include "session/saved_bytes_forecast.hpp"
#include "session/saved_bytes_ledger.hpp"
#include "session/saved_bytes_operations.hpp"

namespace fewbit {

// What a watch holds besides its ledger.
class SavedBytes::Watch::Use : public session::MeteringEngineUse {};

SavedBytes::Watch::Watch(std::shared_ptr<session::Ledger> ledger)
    : ledger_(std::move(ledger)), use_(std::make_unique<Use>()) {
  session::open_watch(ledger_);
}

SavedBytes::Watch::~Watch() {
  session::close_watch(ledger_.get());
}

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

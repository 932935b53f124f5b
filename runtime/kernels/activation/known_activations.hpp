#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <string_view>

namespace fewbit::kernels {

/// Activations by name: those that are built in, then what a program added. Looking up takes no
/// lock, so nodes stay for good.
template <class Activation>
class KnownActivations {
 public:
  explicit KnownActivations(std::span<const Activation> built_in) : built_in_(built_in) {}

  const Activation* find(std::string_view name) const {
    for (const Activation& activation : built_in_) {
      if (activation.name == name) return &activation;
    }
    for (const Added* added = last_.load(); added != nullptr; added = added->next) {
      if (added->activation->name == name) return added->activation;
    }
    return nullptr;
  }

  /// False where its name is taken.
  bool add(const Activation& activation) {
    const std::lock_guard lock(mutex_);
    if (find(activation.name) != nullptr) return false;
    last_.store(new Added{&activation, last_.load()});
    return true;
  }

 private:
  struct Added {
    const Activation* activation;
    const Added* next;
  };

  std::span<const Activation> built_in_;
  std::mutex mutex_;
  std::atomic<const Added*> last_{nullptr};
};

}  // namespace fewbit::kernels

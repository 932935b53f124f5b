#pragma once

#include <functional>

#include "codecs/codec.hpp"

namespace fewbit::session {

/// A run of which something else may be held later; ChangingTensor is the same of a tensor.
class ChangingRun : public codecs::Encoded {
 public:
  /// Whether neither it nor what it is computed from waits to be coded.
  virtual bool is_settled() const = 0;
  /// To be called when something else is held.
  virtual void when_changed(const std::function<void()>& tell) const = 0;
};

/// The same of any: one that does not change is settled.
inline bool is_settled(const codecs::Encoded& run) {
  const auto* const changing = dynamic_cast<const ChangingRun*>(&run);
  return changing == nullptr || changing->is_settled();
}
inline void when_changed(const codecs::Encoded& run, const std::function<void()>& tell) {
  const auto* const changing = dynamic_cast<const ChangingRun*>(&run);
  if (changing != nullptr) changing->when_changed(tell);
}

}  // namespace fewbit::session

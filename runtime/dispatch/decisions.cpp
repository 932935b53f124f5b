#include "dispatch/decisions.hpp"

#include <utility>

#include <c10/util/Exception.h>

namespace fewbit::session {

PolicyUse::PolicyUse(std::unique_ptr<Policy> policy, bool watches)
    : stack_(PolicyStack::of_this_thread()), policy_(std::move(policy)) {
  if (watches) {
    stack_->watch(policy_.get());
  } else {
    stack_->open(policy_.get());
  }
}

PolicyUse::~PolicyUse() {
  stack_->close(policy_.get());
}

std::optional<Substitute> RecordingPolicy::decide(const Call& call) {
  Policy* const asked = PolicyStack::below(*this);
  std::optional<Substitute> substitute = asked == nullptr ? std::nullopt : asked->decide(call);
  const bool is_meant = calls_ == Calls::all || PolicyStack::is_any_above(*this);
  if (is_meant) decisions_.push_back({std::string(call.name()), substitute});
  return substitute;
}

std::optional<Substitute> ReplayingPolicy::decide(const Call& call) {
  if (calls_ == Calls::within && !PolicyStack::is_any_above(*this)) return std::nullopt;
  const bool is_known = next_ < decisions_.size();
  TORCH_CHECK(is_known && decisions_[next_].operation == call.name(),
              "fewbit::checkpoint: run again for backward, the function calls ", call.name(),
              " where the forward had ",
              is_known ? decisions_[next_].operation : "no further activation",
              ": it has to do the same every time");
  return decisions_[next_++].substitute;
}

}  // namespace fewbit::session

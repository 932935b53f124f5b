#include "session/decisions.hpp"

#include <utility>

#include <c10/util/Exception.h>

namespace fewbit::session {

PolicyUse::PolicyUse(std::unique_ptr<Policy> policy)
    : stack_(PolicyStack::of_this_thread()), policy_(std::move(policy)) {
  stack_->open(policy_.get());
}

PolicyUse::~PolicyUse() {
  stack_->close(policy_.get());
}

std::optional<Substitute> RecordingPolicy::decide(const Call& call) {
  Policy* const asked = PolicyStack::below(*this);
  std::optional<Substitute> substitute = asked == nullptr ? std::nullopt : asked->decide(call);
  decisions_.push_back({std::string(call.name()), substitute});
  return substitute;
}

std::optional<Substitute> ReplayingPolicy::decide(const Call& call) {
  const bool is_known = next_ < decisions_.size();
  TORCH_CHECK(is_known && decisions_[next_].operation == call.name(),
              "fewbit::checkpoint: run again for backward, the function calls ", call.name(),
              " where the forward had ",
              is_known ? decisions_[next_].operation : "no further activation",
              ": it has to do the same every time");
  return decisions_[next_++].substitute;
}

}  // namespace fewbit::session

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "session/interception.hpp"
#include "session/policy_stack.hpp"

namespace fewbit::session {

/// What was decided about the calls of one run, in their order.
struct Decision {
  std::string operation;
  std::optional<Substitute> substitute;
};
using Decisions = std::vector<Decision>;

/// A policy that is open for the life of this, in the thread that makes it.
class PolicyUse {
 public:
  explicit PolicyUse(std::unique_ptr<Policy> policy);
  ~PolicyUse();
  PolicyUse(const PolicyUse&) = delete;
  PolicyUse& operator=(const PolicyUse&) = delete;

 private:
  std::shared_ptr<PolicyStack> stack_;
  std::unique_ptr<Policy> policy_;
};

/// Leaves it to the policy that was opened before, and writes down what that says.
class RecordingPolicy final : public Policy {
 public:
  explicit RecordingPolicy(Decisions& decisions) : decisions_(decisions) {}
  std::optional<Substitute> decide(const Call& call) override;

 private:
  Decisions& decisions_;
};

/// Says the same of the same calls: no policy of that run has to be there, or is asked a second
/// time. Throws c10::Error where other calls come.
class ReplayingPolicy final : public Policy {
 public:
  explicit ReplayingPolicy(const Decisions& decisions) : decisions_(decisions) {}
  std::optional<Substitute> decide(const Call& call) override;

 private:
  const Decisions& decisions_;
  size_t next_ = 0;
};

/// Leaves everything to torch, whatever was opened before.
class NoPolicy final : public Policy {
 public:
  std::optional<Substitute> decide(const Call& /*call*/) override { return std::nullopt; }
};

}  // namespace fewbit::session

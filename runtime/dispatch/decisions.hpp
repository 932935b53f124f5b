#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/interception.hpp"
#include "dispatch/policy_stack.hpp"

namespace fewbit::session {

/// What was decided about the calls of one run, in their order.
struct Decision {
  std::string operation;
  std::optional<Substitute> substitute;
};
using Decisions = std::vector<Decision>;

/// A policy that is open, or watches, for the life of this, in the thread that makes it.
class PolicyUse {
 public:
  explicit PolicyUse(std::unique_ptr<Policy> policy, bool watches = false);
  ~PolicyUse();
  PolicyUse(const PolicyUse&) = delete;
  PolicyUse& operator=(const PolicyUse&) = delete;

 private:
  std::shared_ptr<PolicyStack> stack_;
  std::unique_ptr<Policy> policy_;
};

/// Whose calls decisions are about.
enum class Calls {
  all,    ///< a policy is open around them
  within  ///< those that run while a policy is open that the run itself opened
};

/// Watches: writes down what the policies say.
class RecordingPolicy final : public Policy {
 public:
  RecordingPolicy(Decisions& decisions, Calls calls) : decisions_(decisions), calls_(calls) {}
  std::optional<Substitute> decide(const Call& call) override;

 private:
  Decisions& decisions_;
  Calls calls_;
};

/// Watches: says the same of the same calls. No policy of that run has to be there, or is asked a
/// second time; the others are left to torch. Throws c10::Error where other calls come.
class ReplayingPolicy final : public Policy {
 public:
  ReplayingPolicy(const Decisions& decisions, Calls calls) : decisions_(decisions), calls_(calls) {}
  std::optional<Substitute> decide(const Call& call) override;

 private:
  const Decisions& decisions_;
  Calls calls_;
  size_t next_ = 0;
};

/// Leaves everything to torch, whatever was opened before.
class NoPolicy final : public Policy {
 public:
  std::optional<Substitute> decide(const Call& /*call*/) override { return std::nullopt; }
};

}  // namespace fewbit::session

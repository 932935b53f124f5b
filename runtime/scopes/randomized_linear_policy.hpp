#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/interception.hpp"
#include "dispatch/linear_call.hpp"
#include "fewbit/randomized_linear.hpp"

namespace fewbit::session {

/// What a RandomizedLinearScope does with the calls that it meets; what it does not take is left to
/// the policy that was opened before.
class RandomizedLinearPolicy final : public Policy {
 public:
  explicit RandomizedLinearPolicy(RandomizedLinearOptions options) : options_(options) {}

  void name(const std::string& name, const at::Tensor& parameter);

  std::optional<Substitute> decide(const Call& call) override;

  const std::vector<RandomizedLinearScope::Entry>& entries() const { return entries_; }

 private:
  using Entry = RandomizedLinearScope::Entry;

  std::optional<Substitute> substitute_for(const Call& call);
  /// Empty where nothing tells it.
  std::string name_of(const at::Tensor& factor) const;
  bool is_layer(const Call& call, const LinearCall& linear) const;
  void note(Entry met);

  RandomizedLinearOptions options_;
  std::map<const void*, std::string> names_;  ///< of parameters
  std::vector<Entry> entries_;
};

}  // namespace fewbit::session

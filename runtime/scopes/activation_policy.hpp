#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/interception.hpp"
#include "fewbit/activation_scope.hpp"
#include "scopes/activation_sites.hpp"

namespace fewbit::session {

/// What an ActivationScope does with the calls that it meets.
class ActivationPolicy final : public Policy {
 public:
  struct Rule {
    std::optional<int> bits;
    std::optional<Table> table;
    bool leave_alone = false;
  };

  ActivationPolicy(ActivationScope* scope, int bits) : scope_(scope), bits_(bits) {}

  ActivationScope* scope() const { return scope_; }

  /// Throws c10::Error for an unknown function.
  Rule& rule_for(const std::string& function);

  /// The n-th activation that is replaced takes the table of the n-th site from now on.
  void visit(std::shared_ptr<ActivationSites> sites) { sites_ = std::move(sites); }
  /// The forward is over.
  void leave_sites() noexcept;

  /// What is no activation is left to the policy that was opened before.
  std::optional<Substitute> decide(const Call& call) override;

  const std::vector<ActivationScope::Entry>& entries() const { return entries_; }

 private:
  std::optional<Table> choose(const std::string& function, const std::vector<double>& parameters,
                              std::string& reason) const;
  std::optional<Table> table_for(const at::Tensor& x, const std::string& function,
                                 const std::vector<double>& parameters);
  void note(const at::Tensor& x, const std::string& function, std::string outcome, bool replaced);

  ActivationScope* scope_;
  int bits_;
  std::map<std::string, Rule> rules_;
  std::vector<ActivationScope::Entry> entries_;
  std::shared_ptr<ActivationSites> sites_;  ///< null without a calibrator
  size_t visited_ = 0;                      ///< of them
};

}  // namespace fewbit::session

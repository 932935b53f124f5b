#include "scopes/activation_policy.hpp"

#include <algorithm>

#include "dispatch/activation_call.hpp"
#include "dispatch/policy_stack.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

ActivationPolicy::Rule& ActivationPolicy::rule_for(const std::string& function) {
  // Throws for an unknown one; calls are met by the name that an alias stands for.
  return rules_[Table::standard(function, Bits{1}).function()] = {};
}

void ActivationPolicy::leave_sites() noexcept {
  if (sites_) sites_->end_forward(visited_);
}

std::optional<Table> ActivationPolicy::choose(const std::string& function,
                                              const std::vector<double>& parameters,
                                              std::string& reason) const {
  const auto found = rules_.find(function);
  if (found == rules_.end()) {
    if (const char* against = reason_for_rule(function)) {
      reason = against;
      return std::nullopt;
    }
    return standard_or_reason(function, Bits{bits_}, parameters, reason);
  }
  const Rule& rule = found->second;
  if (rule.leave_alone) {
    reason = "left alone by rule";
    return std::nullopt;
  }
  if (!rule.table) return standard_or_reason(function, Bits{*rule.bits}, parameters, reason);
  if (!rule.table->is_for(function, parameters)) {
    reason = "the rule's table is for other parameters";
    return std::nullopt;
  }
  return rule.table;
}

std::optional<Table> ActivationPolicy::table_for(const at::Tensor& x, const std::string& function,
                                                 const std::vector<double>& parameters) {
  if (is_in_backward()) return std::nullopt;
  if (const char* against = reason_against(x, function)) {
    note(x, function, against, false);
    return std::nullopt;
  }
  std::string reason;
  std::optional<Table> table = choose(function, parameters, reason);
  if (table && sites_) {
    table = sites_->visit(visited_, x, *table);
    ++visited_;
  }
  note(x, function, table ? table->name() : reason, table.has_value());
  return table;
}

std::optional<Substitute> ActivationPolicy::decide(const Call& call) {
  const auto activation = activation_call(call.name(), call.arguments);
  if (!activation) {
    Policy* const asked = PolicyStack::below(*this);
    return asked == nullptr ? std::nullopt : asked->decide(call);
  }
  const at::Tensor& x = call.arguments[0].toTensor();
  if (activation->obstacle != nullptr) {
    note(x, activation->function, activation->obstacle, false);
    return std::nullopt;
  }
  const std::optional<Table> table = table_for(x, activation->function, activation->parameters);
  if (!table) return std::nullopt;
  return few_bit_activation(call.operation, *table);
}

void ActivationPolicy::note(const at::Tensor& x, const std::string& function, std::string outcome,
                            bool replaced) {
  auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) {
    return e.function == function && e.outcome == outcome;
  });
  if (entry == entries_.end()) {
    entry = entries_.insert(entry, {function, std::move(outcome), replaced, 0, 0});
  }
  ++entry->calls;
  entry->elements += x.numel();
}

}  // namespace fewbit::session

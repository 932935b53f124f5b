#include "fewbit/activation_scope.hpp"

#include <exception>

#include "dispatch/policy_stack.hpp"
#include "scopes/activation_policy.hpp"
#include "text/table.hpp"

namespace fewbit {

ActivationScope::ActivationScope(ActivationScopeOptions options)
    : stack_(session::PolicyStack::of_this_thread()), exceptions_(std::uncaught_exceptions()) {
  TORCH_CHECK(options.bits >= 1 && options.bits <= 8, "fewbit::ActivationScope: ", options.bits,
              " bits, accepted: 1 to 8");
  policy_ = std::make_unique<session::ActivationPolicy>(this, options.bits);
  stack_->open(policy_.get());
}

ActivationScope::~ActivationScope() {
  if (std::uncaught_exceptions() == exceptions_) policy_->leave_sites();
  stack_->close(policy_.get());
}

ActivationScope* ActivationScope::current() {
  const auto* policy = dynamic_cast<session::ActivationPolicy*>(session::PolicyStack::latest());
  return policy == nullptr ? nullptr : policy->scope();
}

ActivationScope& ActivationScope::rule(const std::string& function, Bits bits) {
  TORCH_CHECK(bits.count >= 1 && bits.count <= 8, "fewbit::ActivationScope::rule: ", bits.count,
              " bits, accepted: 1 to 8");
  policy_->rule_for(function).bits = bits.count;
  return *this;
}

ActivationScope& ActivationScope::rule(const std::string& function, Table table) {
  TORCH_CHECK(table.function() == Table::standard(function, Bits{1}).function(),
              "fewbit::ActivationScope::rule: the table ", table.name(), " is for ",
              table.function(), ", not for ", function);
  policy_->rule_for(function).table = std::move(table);
  return *this;
}

ActivationScope& ActivationScope::leave_alone(const std::string& function) {
  policy_->rule_for(function).leave_alone = true;
  return *this;
}

std::vector<ActivationScope::Entry> ActivationScope::entries() const {
  return policy_->entries();
}

std::string ActivationScope::report() const {
  using session::TextTable;
  TextTable table({{"function"},
                   {"calls", TextTable::Side::right},
                   {"elements", TextTable::Side::right},
                   {"outcome"}});
  for (const Entry& entry : policy_->entries()) {
    table.add({entry.function, std::to_string(entry.calls), session::grouped(entry.elements),
               (entry.replaced ? "few bits: " : "left alone: ") + entry.outcome});
  }
  return table.text();
}

}  // namespace fewbit

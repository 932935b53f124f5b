#include "fewbit/activation_scope.hpp"

#include <algorithm>
#include <exception>

#include <torch/csrc/autograd/function.h>

#include "fewbit/calibrator.hpp"
#include "session/activation_call.hpp"
#include "session/scope_sites.hpp"
#include "session/scope_stack.hpp"
#include "session/text_table.hpp"

namespace fewbit {

ActivationScope::ActivationScope(ActivationScopeOptions options)
    : options_(options),
      stack_(session::ScopeStack::of_this_thread()),
      exceptions_(std::uncaught_exceptions()) {
  TORCH_CHECK(options.bits >= 1 && options.bits <= 8, "fewbit::ActivationScope: ", options.bits,
              " bits, accepted: 1 to 8");
  stack_->open(this);
}

// What throws here lets the scope end as any other does.
ActivationScope::ActivationScope(ActivationScopeOptions options, Calibrator& calibrator)
    : ActivationScope(options) {
  TORCH_CHECK(calibrator.scope_sites_,
              "fewbit::ActivationScope: the calibrator watches the modules of a model; one for "
              "scopes is made without a model");
  calibrator.scope_sites_->begin_forward();
  sites_ = calibrator.scope_sites_;
}

ActivationScope::~ActivationScope() {
  if (sites_ && std::uncaught_exceptions() == exceptions_) sites_->end_forward(visited_);
  stack_->close(this);
}

ActivationScope* ActivationScope::current() {
  return session::ScopeStack::innermost();
}

ActivationScope::Rule& ActivationScope::rule_for(const std::string& function) {
  // Throws for an unknown one; calls are met by the name that an alias stands for.
  return rules_[Table::standard(function, Bits{1}).function()] = {};
}

ActivationScope& ActivationScope::rule(const std::string& function, Bits bits) {
  TORCH_CHECK(bits.count >= 1 && bits.count <= 8, "fewbit::ActivationScope::rule: ", bits.count,
              " bits, accepted: 1 to 8");
  rule_for(function).bits = bits.count;
  return *this;
}

ActivationScope& ActivationScope::rule(const std::string& function, Table table) {
  TORCH_CHECK(table.function() == Table::standard(function, Bits{1}).function(),
              "fewbit::ActivationScope::rule: the table ", table.name(), " is for ",
              table.function(), ", not for ", function);
  rule_for(function).table = std::move(table);
  return *this;
}

ActivationScope& ActivationScope::leave_alone(const std::string& function) {
  rule_for(function).leave_alone = true;
  return *this;
}

std::optional<Table> ActivationScope::choose(const std::string& function,
                                             const std::vector<double>& parameters,
                                             std::string& reason) const {
  const auto found = rules_.find(function);
  if (found == rules_.end()) {
    if (session::needs_rule(function)) {
      reason = "torch keeps its output only; a rule replaces it";
      return std::nullopt;
    }
    return session::standard_or_reason(function, Bits{options_.bits}, parameters, reason);
  }
  const Rule& rule = found->second;
  if (rule.leave_alone) {
    reason = "left alone by rule";
    return std::nullopt;
  }
  if (!rule.table)
    return session::standard_or_reason(function, Bits{*rule.bits}, parameters, reason);
  if (!rule.table->is_for(function, parameters)) {
    reason = "the rule's table is for other parameters";
    return std::nullopt;
  }
  return rule.table;
}

std::optional<Table> ActivationScope::table_for(const at::Tensor& x, const std::string& function,
                                                const std::vector<double>& parameters) {
  if (torch::autograd::get_current_node() != nullptr) return std::nullopt;
  if (const char* against = session::reason_against(x, function)) {
    note_left_alone(x, function, against);
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

void ActivationScope::note_left_alone(const at::Tensor& x, const std::string& function,
                                      const char* reason) {
  note(x, function, reason, false);
}

void ActivationScope::note(const at::Tensor& x, const std::string& function, std::string outcome,
                           bool replaced) {
  auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) {
    return e.function == function && e.outcome == outcome;
  });
  if (entry == entries_.end()) {
    entry = entries_.insert(entry, {function, std::move(outcome), replaced, 0, 0});
  }
  ++entry->calls;
  entry->elements += x.numel();
}

std::vector<ActivationScope::Entry> ActivationScope::entries() const {
  return entries_;
}

std::string ActivationScope::report() const {
  using session::TextTable;
  TextTable table({{"function"},
                   {"calls", TextTable::Side::right},
                   {"elements", TextTable::Side::right},
                   {"outcome"}});
  for (const Entry& entry : entries_) {
    table.add({entry.function, std::to_string(entry.calls), session::grouped(entry.elements),
               (entry.replaced ? "few bits: " : "left alone: ") + entry.outcome});
  }
  return table.text();
}

}  // namespace fewbit

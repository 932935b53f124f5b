#include "dispatch/policy_stack.hpp"
#include "fewbit/randomized_linear.hpp"
#include "ops/randomized_linear.hpp"
#include "scopes/randomized_linear_policy.hpp"
#include "text/table.hpp"

namespace fewbit {

RandomizedLinearScope::RandomizedLinearScope(RandomizedLinearOptions options)
    : stack_(session::PolicyStack::of_this_thread()) {
  ops::check_keep("fewbit::RandomizedLinearScope", options.keep);
  policy_ = std::make_unique<session::RandomizedLinearPolicy>(options);
  stack_->open(policy_.get());
}

RandomizedLinearScope::~RandomizedLinearScope() {
  stack_->close(policy_.get());
}

RandomizedLinearScope& RandomizedLinearScope::name(
    const torch::OrderedDict<std::string, at::Tensor>& parameters) {
  for (const auto& parameter : parameters) policy_->name(parameter.key(), parameter.value());
  return *this;
}

std::vector<RandomizedLinearScope::Entry> RandomizedLinearScope::entries() const {
  return policy_->entries();
}

std::string RandomizedLinearScope::report() const {
  using Side = session::TextTable::Side;
  session::TextTable table({{"layer"},
                            {"calls", Side::right},
                            {"rows", Side::right},
                            {"kept", Side::right},
                            {"outcome"}});
  for (const Entry& entry : policy_->entries()) {
    table.add({entry.layer, std::to_string(entry.calls), session::grouped(entry.rows),
               entry.taken ? session::grouped(entry.kept) : "all",
               (entry.taken ? "projected: " : "left alone: ") + entry.outcome});
  }
  return table.text();
}

}  // namespace fewbit

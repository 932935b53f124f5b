// In how many bits an activation stores its derivative, and whether it does.
#include <algorithm>
#include <utility>

#include "compression/allocation/activation_bits.hpp"
#include "compression/compression.hpp"
#include "dispatch/activation_call.hpp"
#include "trace/model_parameters.hpp"

namespace fewbit::session {

std::optional<Compression::ActivationBits> Compression::activation_bits(const ActivationCall& call,
                                                                        std::string_view operation,
                                                                        const at::Tensor& x,
                                                                        const SiteKey& site) const {
  OperationNames names = names_of(operation);
  names.push_back(call.function);
  const Addresses makers = parameters_of_maker(x);
  std::optional<int> bits;
  {
    const std::lock_guard lock(mutex_);
    const std::string module = rules_->module_around(makers);
    const std::string in_module = module + '.' + call.function;
    if (!module.empty()) names.push_back(in_module);
    const OperationNames own = names;
    names.push_back(kActivation);
    const UserRules::Rule* rule = rules_->rule_of(names, {});
    if (rule != nullptr && rule->leaves_alone()) return std::nullopt;
    if (rule != nullptr && rule->storage) return ActivationBits{.storage = rule->storage};
    // A pattern for many operations does not ask for what no table is near enough to.
    const bool is_named = rule != nullptr && std::ranges::find(own, rule->pattern) != own.end();
    const bool is_exact_in_one = call.function == "relu";
    const bool is_possible = is_exact_in_one || is_vanishing(call.function);
    if (!is_named && !is_possible && reason_for_rule(call.function)) return std::nullopt;
    const auto assigned = rules_->assignment_of(site);
    if (assigned && assigned->storage == Storage::exact) return ActivationBits{.is_exact = true};
    if (rule != nullptr) bits = rule->bits;
    if (!bits) bits = options().activation_bits;
    if (assigned && assigned->bits > 0) bits = assigned->bits;
    if (bits) return ActivationBits{*bits, true};
    const SiteState* state = std::as_const(sites_).find(site);
    if (state != nullptr && BitAllocation::follows_bits(*state)) return ActivationBits{state->bits};
  }
  return ActivationBits{bits_for(table_errors(call.function, call.parameters),
                                 coder_.activation_error(coder_.average_bits()))};
}

}  // namespace fewbit::session

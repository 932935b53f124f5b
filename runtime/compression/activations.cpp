// In how many bits an activation keeps its derivative, and whether it does.
#include <algorithm>

#include "compression/allocation/activation_bits.hpp"
#include "compression/compression.hpp"
#include "dispatch/activation_call.hpp"
#include "ops/activation.hpp"
#include "trace/model_parameters.hpp"

namespace fewbit::session {

std::optional<Compression::ActivationBits> Compression::activation_bits(const ActivationCall& call,
                                                                        std::string_view operation,
                                                                        const at::Tensor& x,
                                                                        const SiteKey& site) const {
  std::vector<std::string_view> names = names_of(operation);
  names.push_back(call.function);
  const std::vector<const void*> makers = parameters_of_maker(x);
  std::optional<int> bits;
  {
    const std::lock_guard lock(mutex_);
    const std::string module = module_around(makers);
    const std::string in_module = module + '.' + call.function;
    if (!module.empty()) names.push_back(in_module);
    const std::vector<std::string_view> own = names;
    names.push_back(kActivation);
    const Rule* rule = rule_of(names, {});
    if (rule != nullptr && rule->leaves_alone()) return std::nullopt;
    if (rule != nullptr && rule->storage) return ActivationBits{.storage = rule->storage};
    // A pattern for many operations does not ask for what no table is near enough to.
    const bool is_named = rule != nullptr && std::ranges::find(own, rule->pattern) != own.end();
    const bool is_exact_in_one = call.function == "relu";
    const bool is_possible = is_exact_in_one || is_vanishing(call.function);
    if (!is_named && !is_possible && reason_for_rule(call.function)) return std::nullopt;
    const auto assigned = assignment_of(site);
    if (assigned && assigned->storage == Storage::exact) return ActivationBits{.is_exact = true};
    if (rule != nullptr) bits = rule->bits;
    if (!bits) bits = options().activation_bits;
    if (assigned && assigned->bits > 0) bits = assigned->bits;
    if (bits) return ActivationBits{*bits, true};
    const auto number = numbers_.find(site);
    if (number != numbers_.end() && follows_bits(states_[number->second])) {
      return ActivationBits{states_[number->second].bits};
    }
  }
  return ActivationBits{bits_for(table_errors(call.function, call.parameters),
                                 coder_.activation_error(coder_.average_bits()))};
}

/// "encoder.layers.0" of "encoder.layers.0.linear1.weight": whose the activation behind a layer is.
std::string Compression::module_around(const std::vector<const void*>& parameters) const {
  const std::string layer = module_of(parameters);
  const size_t dot = layer.rfind('.');
  return dot == std::string::npos ? "" : layer.substr(0, dot);
}

void Compression::note_table(const SiteKey& key, const Table& table, bool is_given) {
  const int bits = table.bits();
  const std::optional<int> fixed = is_given ? std::optional(bits) : std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto number = numbers_.find(key);
  if (number == numbers_.end()) return;
  SiteState& state = states_[number->second];
  state.bits = bits;
  if (state.coded_bits == bits && state.fixed == fixed) return;
  state.coded_bits = bits;
  state.fixed = fixed;
  state.errors = table_errors(table.function(), table.parameters());
  if (state.errors.front() == 0.0) state.errors.clear();
  has_changed_ = true;
}

/// Whether its bits are chosen by the average of others.
bool Compression::follows_bits(const SiteState& state) {
  return state.save_policy.storage == StorageKind::codes && !state.fixed && !state.errors.empty();
}

double Compression::activation_bytes(double average) const {
  double bytes = 0.0;
  for (const SiteState& state : states_) {
    if (state.save_policy.storage != StorageKind::codes) continue;
    bytes +=
        follows_bits(state)
            ? static_cast<double>(ops::code_bytes(elements_of(state), bits_beside(state, average)))
            : state.other_bits / 8.0;
  }
  return bytes;
}

/// Of a budget of bytes activations leave the less to others the more bits these have on average:
/// the most with which both fit.
Compression::Averages Compression::averages(const std::vector<Demand>& demands) const {
  if (options().bytes == 0) return {options().bits, options().bits};
  constexpr double kStep = 1.0 / 16.0;
  double average = kMostBits;
  double left = average_bits(demands, activation_bytes(average));
  while (left < average && average > 1.0) {
    average -= kStep;
    left = average_bits(demands, activation_bytes(average));
  }
  if (left >= 1.0) return {average, left};
  constexpr double kLeast = 0.0;  // one bit, whatever it errs
  return {kLeast, average_bits(demands, activation_bytes(kLeast))};
}

int Compression::bits_beside(const SiteState& state, double average) const {
  if (average < 1.0) return 1;
  return bits_for(state.errors, coder_.activation_error(average));
}

}  // namespace fewbit::session

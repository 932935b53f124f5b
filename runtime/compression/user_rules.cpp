#include "compression/user_rules.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <c10/util/Exception.h>

#include "compression/operators/operator.hpp"
#include "dispatch/activation_call.hpp"

namespace fewbit::session {

namespace {

/// * in the pattern stands for any characters.
bool fits_pattern(std::string_view text, std::string_view pattern) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return text == pattern;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (size_t i = star; i <= text.size(); ++i) {
    if (fits_pattern(text.substr(i), rest)) return true;
  }
  return false;
}

/// An activation by the name that an alias stands for; others as they are.
std::string standard_pattern(const std::string& pattern) {
  std::string reason;
  const auto table = standard_or_reason(pattern, Bits{1}, {}, reason);
  return table ? table->function() : pattern;
}

std::string without_last_name(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

/// Those that cost little time, and in a scheme of others what it is made of.
Recompute at_first(std::string_view name, Scheme scheme) {
  constexpr std::array kCheap = {kCopy, kNorm, kRelu, kDropout, kSum};
  const bool is_cheap = std::ranges::find(kCheap, name) != kCheap.end();
  if (name == kCast) return Recompute::where_better;  // there is no error
  if (name == kSign) return scheme == Scheme::blpa ? Recompute::always : Recompute::never;
  if (scheme == Scheme::blpa && is_cheap && name != kSum) return Recompute::always;
  return is_cheap && scheme == Scheme::rotated ? Recompute::where_better : Recompute::never;
}

}  // namespace

OperationNames names_of(std::string_view operation) {
  OperationNames names = {operation};
  const std::string_view base = base_name(operation), plain = plain_name(operation);
  if (base != operation) names.push_back(base);
  if (plain != base) names.push_back(plain);
  if (operation == kLogSoftmax) names.push_back("aten::_log_softmax");
  if (operation == kAttention) {
    names.append({"aten::scaled_dot_product_attention", "scaled_dot_product_attention"});
  }
  return names;
}

void UserRules::add(Rule rule) {
  rule.pattern = standard_pattern(rule.pattern);
  rules_.push_back(std::move(rule));
}

void UserRules::name(const std::string& name, const at::Tensor& parameter) {
  Memory memory = memory_of(parameter);
  const void* address = memory.address();
  parameters_.insert_or_assign(address, Parameter{std::move(memory), name});
}

void UserRules::set_running_module(std::function<std::string()> module) {
  running_module_ =
      module ? std::make_shared<const std::function<std::string()>>(std::move(module)) : nullptr;
}

void UserRules::set_recompute(const std::string& name, Recompute when) {
  std::string known = "*";
  for (const std::string_view one : recompute_kinds()) known += ", " + std::string(one);
  const bool is_all = name == "*";
  TORCH_CHECK(is_all || std::ranges::find(recompute_kinds(), name) != recompute_kinds().end(),
              "fewbit::Compressor::recompute: '", name,
              "' is no kind of recomputation, accepted: ", known);
  for (const std::string_view one : recompute_kinds()) {
    if (is_all || one == name) recompute_[std::string(one)] = when;
  }
}

void UserRules::assign(const SiteKey& site, Assignment assignment) {
  assignments_.insert_or_assign(site, assignment);
}

const UserRules::Rule* UserRules::rule_of(std::span<const std::string_view> names,
                                          std::span<const void* const> parameters) const {
  const auto fits = [&](const Rule& rule) {
    const auto is_meant = [&](std::string_view name) { return fits_pattern(name, rule.pattern); };
    if (std::ranges::any_of(names, is_meant)) return true;
    return std::ranges::any_of(parameters, [&](const void* address) {
      const auto known = parameters_.find(address);
      return known != parameters_.end() && is_meant(known->second.name);
    });
  };
  const auto rule = std::find_if(rules_.rbegin(), rules_.rend(), fits);
  return rule == rules_.rend() ? nullptr : &*rule;
}

Recompute UserRules::when_to_recompute(std::string_view name) const {
  const auto known = recompute_.find(name);
  const bool is_never = known != recompute_.end() && known->second == Recompute::never;
  // Which sites take one is given.
  const bool is_planned = !assignments_.empty() && name != kSoftmax && name != kSign;
  if (is_planned && !is_never) return Recompute::where_better;
  return known == recompute_.end() ? at_first(name, scheme_) : known->second;
}

bool UserRules::knows(const at::Tensor& tensor) const {
  return parameters_.contains(address_of(tensor));
}

std::string UserRules::path_of(std::span<const void* const> parameters) const {
  for (const void* address : parameters) {
    const auto known = parameters_.find(address);
    if (known == parameters_.end()) continue;
    const std::string module = without_last_name(known->second.name);
    return module.empty() ? known->second.name : module;
  }
  return "";
}

std::string UserRules::module_around(std::span<const void* const> parameters) const {
  return without_last_name(module_of(parameters));
}

}  // namespace fewbit::session

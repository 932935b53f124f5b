#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include "compression/operators/save_policy.hpp"
#include "compression/operators/site_key.hpp"
#include "fewbit/compressor.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

/// What a rule may call an operation: "aten::gelu_", "aten::gelu", "gelu", and libtorch's own name
/// of one that runs in another form.
using OperationNames = c10::SmallVector<std::string_view, 8>;
OperationNames names_of(std::string_view operation);

/// What users and plans say: rules, names of parameters, kinds of recomputation, plans of sites.
class UserRules {
 public:
  struct Rule {
    std::string pattern;
    std::optional<int> bits;
    std::optional<StorageKind> storage;  ///< where there are no bits: a cast, offloaded, or exact

    bool leaves_alone() const { return storage == StorageKind::exact; }
    /// Whether the pattern is for many operations.
    bool is_wide() const { return pattern.find('*') != std::string::npos; }
  };
  /// How a site is stored whatever rules and errors say, and its bits where it is coded in such.
  struct Assignment {
    Storage storage = Storage::coded;
    int bits = 0;
  };

  explicit UserRules(Scheme scheme) : scheme_(scheme) {}

  /// For what fits the pattern, in which an alias of an activation stands for it.
  void add(Rule rule);
  void name(const std::string& name, const at::Tensor& parameter);
  void set_running_module(std::function<std::string()> module);
  /// Throws c10::Error for a name that is no kind, and not "*".
  void set_recompute(const std::string& name, Recompute when);
  void assign(const SiteKey& site, Assignment assignment);

  /// The latest rule that fits one of these names, or the name of one of the parameters; null:
  /// none.
  const Rule* rule_of(std::span<const std::string_view> names,
                      std::span<const void* const> parameters) const;
  /// The same of an operation, whatever it may be called.
  const Rule* rule_of(std::string_view operation, std::span<const void* const> parameters) const {
    return rules_.empty() ? nullptr : rule_of(names_of(operation), parameters);
  }
  std::optional<Assignment> assignment_of(const SiteKey& site) const {
    const auto known = assignments_.find(site);
    return known == assignments_.end() ? std::nullopt : std::optional(known->second);
  }
  /// Bits by a plan of the site, or else those of the rule.
  std::optional<int> given_bits(const SiteKey& site, std::optional<int> of_rule) const {
    const auto assigned = assignment_of(site);
    return assigned && assigned->bits > 0 ? std::optional(assigned->bits) : of_rule;
  }
  Recompute when_to_recompute(std::string_view name) const;

  /// Whether the tensor is a named parameter, frozen or not, or a view of one.
  bool knows(const at::Tensor& tensor) const;
  /// "encoder.linear1" of "encoder.linear1.weight", of the first parameter that has a name.
  std::string module_of(std::span<const void* const> parameters) const {
    return parameters_.empty() ? "" : path_of(parameters);
  }
  /// As who runs the model says, where anybody does; empty: it is not known.
  std::string running_module() const { return (*running_module_)(); }
  bool asks_for_modules() const { return running_module_ != nullptr; }
  /// "encoder" of that: whose the activation behind a layer is.
  std::string module_around(std::span<const void* const> parameters) const;

 private:
  std::string path_of(std::span<const void* const> parameters) const;

  struct Parameter {
    Memory memory;  ///< so that its address means it
    std::string name;
  };

  Scheme scheme_;
  std::vector<Rule> rules_;  ///< in the order of making
  std::map<std::string, Recompute, std::less<>> recompute_;
  std::map<const void*, Parameter> parameters_;
  std::shared_ptr<const std::function<std::string()>> running_module_;
  std::map<SiteKey, Assignment> assignments_;
};

}  // namespace fewbit::session

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fewbit/bits.hpp"
#include "fewbit/table.hpp"

namespace fewbit {

class Calibrator;

namespace session {
class ActivationPolicy;
class PolicyStack;
}  // namespace session

struct ActivationScopeOptions {
  int bits = 3;  ///< of each stored code, 1 to 8, where no rule says otherwise
};

/// While it lives, activations of an unchanged model keep few bits for backward on this thread:
///
///   fewbit::ActivationScope scope({.bits = 3});
///   loss = model->forward(x);
///
/// torch::nn modules, functional calls, in-place forms, TransformerEncoderLayer and TorchScript
/// alike; values stay torch's own function of x, computed by this library, with its type and
/// layout. Tensors that the library does not take are left alone: nested and sparse ones, named
/// dimensions, forward-mode differentiation, transforms of functorch. Other threads and the
/// backward pass see nothing of it. Scripts run without torch's optimiser in it, which would
/// differentiate them itself; one that torch optimised before, in runs outside, stays exact and is
/// listed as left alone.
///
/// Scopes nest: the latest of those that are open counts. They may end in any order, and in another
/// thread than their own while that runs no activation.
///
/// relu, sigmoid and tanh are left alone without a rule: torch keeps no more than their output,
/// which the next layer keeps as a rule, and codes would come on top of it. So are softplus,
/// logsigmoid, elu and celu: their derivatives fall to 0, and losses divide by what they give.
class ActivationScope {
 public:
  explicit ActivationScope(ActivationScopeOptions options = {});
  /// One forward of a model whose tables the calibrator fits: see there. Throws c10::Error where
  /// its forwards before do not agree, or where it watches modules.
  ActivationScope(ActivationScopeOptions options, Calibrator& calibrator);
  ~ActivationScope();
  ActivationScope(const ActivationScope&) = delete;
  ActivationScope& operator=(const ActivationScope&) = delete;

  /// For one function of the registry ("silu", "gelu_tanh"). Throws c10::Error for an unknown one.
  ActivationScope& rule(const std::string& function, Bits bits);
  /// The table applies to calls with its own parameters; others are left alone.
  ActivationScope& rule(const std::string& function, Table table);
  ActivationScope& leave_alone(const std::string& function);

  /// What met this scope, by function and outcome.
  struct Entry {
    std::string function;
    std::string outcome;  ///< the table's name, or why it was left alone
    bool replaced;
    int64_t calls;
    int64_t elements;
  };
  std::vector<Entry> entries() const;
  /// The same as a table for a person.
  std::string report() const;

  /// The innermost scope of this thread, or null.
  static ActivationScope* current();

 private:
  std::shared_ptr<session::PolicyStack> stack_;  ///< of the thread that opened it
  std::unique_ptr<session::ActivationPolicy> policy_;
  int exceptions_;  ///< under way when the scope began
};

}  // namespace fewbit

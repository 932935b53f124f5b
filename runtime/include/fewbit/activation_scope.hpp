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

/// Options of an ActivationScope.
struct ActivationScopeOptions {
  int bits = 3;  ///< of each code, 1 to 8, for functions without a rule
};

/// Runs activations of an unchanged model so that they save codes of few bits, on this thread,
/// while it lives.
///
/// ```cpp
/// fewbit::ActivationScope scope({.bits = 3});
/// loss = model->forward(x);
/// ```
///
/// Covers torch::nn modules, functional calls, in-place forms, TransformerEncoderLayer and
/// TorchScript. Values are torch's function of x, computed by this library, with torch's type and
/// layout. Derivatives are those of a few-bit table (table.hpp). Other threads and the backward
/// pass are not affected.
///
/// **Left alone**
/// - relu, sigmoid and tanh, unless a rule names them. Torch saves their output alone, which the
///   next layer usually saves too; codes would come on top of it.
/// - softplus, logsigmoid, elu and celu, unless a rule names them. Their derivatives fall to 0, and
///   losses divide by their results.
/// - Tensors that the library does not take: nested and sparse ones, named dimensions, forward-mode
///   differentiation, transforms of functorch.
/// - Scripts that torch optimised in earlier runs outside of a scope. Other scripts run without
///   torch's optimiser, which would differentiate them itself.
///
/// Scopes nest: the open one that began last counts. They may end in any order. They may end in
/// another thread than their own, as long as their own runs no activation meanwhile.
class ActivationScope {
 public:
  /// Throws c10::Error for bits other than 1 to 8.
  explicit ActivationScope(ActivationScopeOptions options = {});

  /// Runs one forward of a model whose tables the calibrator fits (calibrator.hpp).
  ///
  /// Throws c10::Error where the calibrator's earlier forwards do not agree, or where it watches
  /// modules.
  ActivationScope(ActivationScopeOptions options, Calibrator& calibrator);
  ~ActivationScope();
  ActivationScope(const ActivationScope&) = delete;
  ActivationScope& operator=(const ActivationScope&) = delete;

  /// Sets bits, 1 to 8, for one function of the registry ("silu", "gelu_tanh"). The latest rule for
  /// a function counts. Throws c10::Error for an unknown function or other bits.
  ActivationScope& rule(const std::string& function, Bits bits);
  /// Sets the table for calls of one function with the table's parameters. Calls with other
  /// parameters are left alone. Throws c10::Error for an unknown function or a table of another.
  ActivationScope& rule(const std::string& function, Table table);
  /// Calls of this function run as torch's own. Throws c10::Error for an unknown function.
  ActivationScope& leave_alone(const std::string& function);

  /// Calls of one function with one outcome.
  struct Entry {
    std::string function;
    std::string outcome;  ///< the table's name, or why it was left alone
    bool replaced;
    int64_t calls;
    int64_t elements;  ///< of all calls
  };
  /// What met this scope, in the order in which it was first met.
  std::vector<Entry> entries() const;
  /// entries() as a table for a person.
  std::string report() const;

  /// The innermost open scope of this thread where that is an ActivationScope, else null.
  static ActivationScope* current();

 private:
  std::shared_ptr<session::PolicyStack> stack_;  ///< of the thread that opened it
  std::unique_ptr<session::ActivationPolicy> policy_;
  int exceptions_;  ///< under way when the scope began
};

}  // namespace fewbit

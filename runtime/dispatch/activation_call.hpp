#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "dispatch/interception.hpp"
#include "fewbit/bits.hpp"
#include "fewbit/table.hpp"

namespace fewbit::session {

/// Torch's operations that are activations of the registry, without "aten::"; "gelu_" is gelu in
/// place. The first argument is x.
std::vector<std::string> activation_operations();

/// One call of such an operation in the registry's terms.
struct ActivationCall {
  std::string function;
  std::vector<double> parameters;  ///< in declared order
  const char* obstacle = nullptr;  ///< why the registry has no function for it, null where it has
};

/// Nothing for an operation that is none of them. `operation` with "aten::".
std::optional<ActivationCall> activation_call(std::string_view operation, Arguments arguments);

/// Why a scope leaves a call with this input alone whatever its rules say; null where it does not.
const char* reason_against(const at::Tensor& x);
/// The same of a call of the function.
const char* reason_against(const at::Tensor& x, std::string_view function);

/// x, or a copy of it, that the few-bit operation gives back in the layout of torch's own function.
at::Tensor in_torchs_layout(const at::Tensor& x, const std::string& function);

/// Why a scope leaves the function to torch where no rule names it; null where it does not. Torch
/// saves no more than the output of relu, sigmoid and tanh. Derivatives of sigmoid, tanh, softplus,
/// logsigmoid, elu and celu fall to 0, and losses and parameters live where they do: there a
/// table's error is many times the derivative itself. (In a CompressionScope elu and celu wait:
/// consumers.hpp.)
const char* reason_for_rule(std::string_view function);

/// Whether a scope codes it although its derivative falls to 0, since it finds out who takes it.
bool is_vanishing(std::string_view function);

/// Whether torch saves no more of the function than its output.
bool keeps_output(std::string_view function);

/// Table::standard, or nothing and the reason where the parameters leave nothing to store
/// (leaky_relu with slope 1) or are beyond what the solver takes: torch computes these, so a model
/// that uses them has to go on working.
std::optional<Table> standard_or_reason(const std::string& function, Bits bits,
                                        const std::vector<double>& parameters, std::string& reason);

/// Runs the function with the table in the place of the operation, whose first argument is x.
Substitute few_bit_activation(const c10::OperatorHandle& operation, const Table& table,
                              bool codes_first = false);

}  // namespace fewbit::session

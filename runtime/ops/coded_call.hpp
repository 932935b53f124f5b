#pragma once

#include <optional>
#include <string>

#include <ATen/core/ivalue.h>
#include <ATen/core/operator_name.h>
#include <c10/util/ArrayRef.h>

namespace fewbit::ops {

/// A call of one of this library's operations that keeps codes for backward and no other tensor.
struct CodedCall {
  std::string name;  ///< of what it computes, "gelu"
  int bits;          ///< of the code of one element of its first argument
};

/// Nothing for all other operations.
std::optional<CodedCall> coded_call(const c10::OperatorName& operation,
                                    c10::ArrayRef<const c10::IValue> arguments);

}  // namespace fewbit::ops

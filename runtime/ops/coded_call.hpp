#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <ATen/core/ivalue.h>
#include <c10/util/ArrayRef.h>

namespace fewbit::ops {

/// A call of one of this library's operations that saves codes for backward and no other tensor.
struct CodedCall {
  std::string name;  ///< of what it computes, "gelu"
  int bits;          ///< of the code of one element of its first argument
};

/// Nothing for all other operations. `operation` as "fewbit::activation".
std::optional<CodedCall> coded_call(std::string_view operation,
                                    c10::ArrayRef<const c10::IValue> arguments);

}  // namespace fewbit::ops

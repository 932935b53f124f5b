#include "ops/coded_call.hpp"

#include <array>

#include "ops/activation_arguments.hpp"
#include "ops/table_arguments.hpp"

namespace fewbit::ops {

namespace {

using Arguments = c10::ArrayRef<const c10::IValue>;

struct CodedOperation {
  const char* name;
  CodedCall (*read)(Arguments arguments);
};

CodedCall read_activation(Arguments arguments) {
  return {arguments[kFunctionArgument].toStringRef(),
          bits_of(arguments[kLevelsArgument].toListRef().size())};
}

/// Each calls no other of them.
constexpr std::array kCodedOperations = {CodedOperation{"fewbit::activation", read_activation}};

}  // namespace

std::optional<CodedCall> coded_call(std::string_view operation, Arguments arguments) {
  for (const CodedOperation& coded : kCodedOperations) {
    if (operation == coded.name) return coded.read(arguments);
  }
  return std::nullopt;
}

}  // namespace fewbit::ops

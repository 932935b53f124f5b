#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/core/DispatchKey.h>
#include <torch/library.h>

/// Calls of torch's operations that are run differently while somebody asks for it. While a policy
/// is open in a thread (policy_stack.hpp), calls of intercepted operations reach it before
/// autograd.
namespace fewbit::session {

/// The dispatch key that intercepts. Torch keeps it for modes of its own tests; it lies above
/// autograd, and nothing else uses it.
inline constexpr c10::DispatchKey kInterceptionKey = c10::DispatchKey::TESTING_ONLY_GenericMode;

using Arguments = c10::ArrayRef<const c10::IValue>;

struct Call {
  const c10::OperatorHandle& operation;
  Arguments arguments;  ///< all of the schema's

  /// "aten::gelu_".
  std::string_view name() const { return operation.schema().name(); }
};

/// What runs in the place of torch's own, with the arguments of the call: as many results as the
/// operation has. In place the first one goes into the first argument, and the graph runs through
/// what was computed here. Holds nothing of the call, so that it serves a like one later.
using Substitute = std::function<torch::jit::Stack(Arguments)>;

class Policy {
 public:
  virtual ~Policy() = default;
  /// How the call is run, by the innermost policy; nothing: as torch does. Calls that other
  /// operations of torch's make below autograd are not asked about.
  virtual std::optional<Substitute> decide(const Call& call) = 0;
};

/// Has calls of libtorch's operations, named without "aten::", reach policies. For a policy that
/// knows them, beside it: TORCH_LIBRARY_IMPL(aten, TESTING_ONLY_GenericMode, m) { intercept(m,
/// ...); }
void intercept(torch::Library& library, const std::vector<std::string>& operations);

}  // namespace fewbit::session

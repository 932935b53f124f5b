#pragma once

#include <c10/core/DispatchKey.h>

namespace fewbit {

/// The dispatch key under which a scope's kernels are registered. Torch keeps it for modes of its
/// own tests; it lies above autograd, and nothing else uses it.
inline constexpr c10::DispatchKey kScopeKey = c10::DispatchKey::TESTING_ONLY_GenericMode;

}  // namespace fewbit

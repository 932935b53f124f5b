#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace fewbit::ops {

/// An operation of ours, "fewbit::activation", without an overload. To be looked up once.
template <class Signature>
c10::TypedOperatorHandle<Signature> find(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

}  // namespace fewbit::ops

#pragma once

#include <cstddef>

#include <ATen/core/Tensor.h>

#include "fewbit/table.hpp"

namespace fewbit::session {

/// Whoever gives the activations of a forward tables of their own, by their order.
class ActivationSites {
 public:
  virtual ~ActivationSites() = default;
  /// The table for the n-th one that a scope replaces, where the scope would take `chosen`.
  virtual Table visit(size_t n, const at::Tensor& x, const Table& chosen) = 0;
  /// The forward is over, after so many.
  virtual void end_forward(size_t visited) noexcept = 0;
};

}  // namespace fewbit::session

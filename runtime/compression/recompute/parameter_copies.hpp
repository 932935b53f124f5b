#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trace/running_operations.hpp"

namespace fewbit::session {

/// Copies of a model's small parameters as they are in one forward. An optimiser changes parameters
/// through data(), which no version tells, and may do so before the backward pass.
class ParameterCopies {
 public:
  /// The same copy for the same elements.
  at::Tensor of(const at::Tensor& parameter);

 private:
  struct Copy {
    Memory memory;  ///< so that its address means it
    int64_t offset;
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
    int64_t version;
    uint64_t fingerprint;
    at::Tensor copy;
  };

  std::map<const void*, std::vector<Copy>> copies_;  ///< by memory
};

}  // namespace fewbit::session

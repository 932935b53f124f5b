#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "session/running_operations.hpp"

namespace fewbit::session {

/// What a tensor shows: held at first, later only as long as others hold its memory.
class FadingTensor {
 public:
  explicit FadingTensor(const at::Tensor& tensor);

  /// Undefined where nobody holds the memory any more. Of the tensor's version.
  at::Tensor tensor() const;
  /// Holds it no longer.
  void fade() { held_.reset(); }

 private:
  at::Tensor held_;
  Memory memory_;
  c10::VariableVersion version_;
  at::TensorOptions options_;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> strides_;
  int64_t offset_;
};

}  // namespace fewbit::session

#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trace/running_operations.hpp"

namespace fewbit::session {

/// Copies that several operations make of the same tensor, each for itself: one serves them all.
class SharedCopies {
 public:
  /// The first one that was made of the source as it is now and still is there, or else `copy`.
  at::Tensor shared(const at::Tensor& source, const at::Tensor& copy);

 private:
  struct Made {
    Memory source;  ///< so that its address means it
    int64_t version;
    at::ScalarType type;
    int64_t offset;
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
    c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl> copy;

    bool is_of(const at::Tensor& tensor) const;
  };

  std::vector<Made> made_;
};

}  // namespace fewbit::session

#pragma once

#include <map>
#include <memory>

#include <ATen/core/Tensor.h>

#include "trace/saved_tensors.hpp"

namespace fewbit::session {

/// Casts of parameters that operations save in one forward, as autocast makes one of every weight:
/// the cast is made again in backward, and autocast's cache, which would hold it until the forward
/// ends, is emptied. Of a parameter that is cast a second time, as in a loop, the cast is kept.
class ParameterCasts {
 public:
  /// Null where the tensor is no such cast.
  std::unique_ptr<const PackedTensor> packed(const at::Tensor& tensor);

 private:
  std::map<const void*, Memory> seen_;  ///< parameters, by memory
};

}  // namespace fewbit::session

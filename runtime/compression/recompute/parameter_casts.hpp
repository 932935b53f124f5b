#pragma once

#include <map>
#include <memory>
#include <string_view>

#include <ATen/core/Tensor.h>

#include "trace/saved_tensors.hpp"

namespace fewbit::session {

/// Casts of parameters that operations save in one forward, as autocast makes one of every weight:
/// the cast is made again in backward, and autocast's cache, which would hold it until the forward
/// ends, is emptied. Of a parameter that is cast a second time, as in a loop, the cast is kept.
class ParameterCasts {
 public:
  static bool follows(std::string_view operation) { return operation == "aten::_to_copy"; }

  /// Of a parameter that asks for no gradient: no graph leads from its cast to it.
  void note(const at::Tensor& parameter, const at::Tensor& cast);
  /// Null where the tensor is no such cast.
  std::unique_ptr<const PackedTensor> packed(const at::Tensor& tensor);

 private:
  struct Frozen {
    Memory cast;
    at::Tensor parameter;
  };

  std::map<const void*, Memory> seen_;    ///< parameters, by memory
  std::map<const void*, Frozen> frozen_;  ///< by the cast's memory
};

}  // namespace fewbit::session

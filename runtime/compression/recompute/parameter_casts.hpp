#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>

#include <ATen/core/Tensor.h>

#include "compression/operators/weight.hpp"
#include "trace/saved_tensors.hpp"

namespace fewbit::session {

/// Casts of parameters to 16 bits that operations save in one forward, as autocast makes one of
/// every weight: the cast is made again in backward, and autocast's cache, which would hold it
/// until the forward ends, is emptied. Of a parameter that is cast a second time, as in a loop, the
/// cast that autocast holds is kept.
class ParameterCasts {
 public:
  static bool follows(std::string_view operation) { return operation == "aten::_to_copy"; }

  /// What such an operation made of a parameter.
  void note(const at::Tensor& parameter, const at::Tensor& result);

  /// The tensor, or what it is a cast of.
  Weight weight_of(const at::Tensor& tensor) const;

  /// Null where the tensor is no such cast.
  std::unique_ptr<const PackedTensor> packed(const at::Tensor& tensor);

 private:
  struct Cast {
    Memory memory;
    int64_t version;
    at::Tensor parameter;
  };

  const Cast* find(const at::Tensor& tensor) const;

  std::map<const void*, Cast> casts_;   ///< by memory
  std::map<const void*, Memory> seen_;  ///< parameters whose cast autocast holds, by memory
};

}  // namespace fewbit::session

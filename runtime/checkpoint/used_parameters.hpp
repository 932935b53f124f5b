#pragma once

#include <cstdint>
#include <unordered_map>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

namespace fewbit::session {

/// Leaves that ask for a gradient and that a function uses. Its values depend on them whether its
/// gradients do or not.
class UsedParameters {
 public:
  /// Of an operation that the function runs.
  void add(const c10::IValue& argument);
  /// As a run of the function leaves them.
  void note_versions();
  /// Throws c10::Error where one was changed in place since.
  void check() const;

 private:
  struct Used {
    at::Tensor tensor;
    int64_t version;
  };

  void add(const at::Tensor& tensor);

  std::unordered_map<const c10::TensorImpl*, Used> used_;
};

}  // namespace fewbit::session

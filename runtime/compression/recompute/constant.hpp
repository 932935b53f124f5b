#pragma once

#include <cstdint>
#include <string_view>

#include <ATen/core/Tensor.h>

namespace fewbit::session {

/// What recomputation goes by and holds no copy of. Its version tells nothing of changes through
/// data(), as optimisers make them: on a CPU its elements are looked at, too.
class Constant {
 public:
  explicit Constant(const at::Tensor& constant);

  /// Throws c10::Error, in autograd's words, where it has been changed. kind: of recomputation.
  void check(std::string_view kind) const;

 private:
  at::Tensor tensor_;
  int64_t version_;
  uint64_t fingerprint_;
};

}  // namespace fewbit::session

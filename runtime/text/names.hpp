#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

// How tables and messages name things.
namespace fewbit::session {

// The sizes of a tensor; of a nested one the first and -1.
inline std::vector<std::int64_t> shape_of(const at::Tensor& tensor) {
  if (tensor.is_nested()) return {tensor.size(0), -1};
  return tensor.sizes().vec();
}

// "[32, 16]".
std::string shape_text(const std::vector<std::int64_t>& shape);

// "AddmmBackward0", and a custom function's own name out of the template of libtorch's around it.
std::string short_name(std::string node);

// "a, b and c".
std::string joined(const std::vector<std::string>& names);

}  // namespace fewbit::session

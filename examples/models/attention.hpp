#pragma once

#include <ATen/core/Tensor.h>

namespace fewbit::examples {

/// [n, length, width] to [n, heads, length, width / heads], a view.
at::Tensor split_heads(const at::Tensor& x, int64_t heads);

/// [n, heads, length, size] to [n, length, heads * size].
at::Tensor merge_heads(const at::Tensor& x);

}  // namespace fewbit::examples

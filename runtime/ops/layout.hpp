#pragma once

#include <ATen/core/Tensor.h>

namespace fewbit::ops {

/// An empty tensor for f(x), laid out as torch's own elementwise operations lay out theirs: dense,
/// dimensions in the order of x's strides.
at::Tensor like(const at::Tensor& x);

/// x, or a copy of it, whose elements lie in memory in the order of like(x).
at::Tensor dense(const at::Tensor& x);

/// The elements that x has in memory, each once: dimensions that are expanded with size 1. Without
/// a graph.
at::Tensor unexpanded(const at::Tensor& x);

/// Whether nobody else holds the tensor or its memory, so that its elements may be overwritten.
bool has_one_owner(const at::Tensor& x);

}  // namespace fewbit::ops

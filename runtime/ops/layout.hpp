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

/// x's memory from its element `first` on as a tensor of these sizes and strides: what as_strided
/// gives where no graph is recorded, without a call of the dispatcher, which costs more than small
/// pieces do.
at::Tensor seen_as(const at::Tensor& x, at::IntArrayRef sizes, at::IntArrayRef strides,
                   int64_t first = 0);

/// Indices [first, last) of dimension 0, in the same way.
at::Tensor slice_of(const at::Tensor& x, int64_t first, int64_t last);

/// x, or a copy of it in this type.
at::Tensor in_type(const at::Tensor& x, at::ScalarType type);

/// Whether nobody else holds the tensor or its memory, so that its elements may be overwritten.
bool has_one_owner(const at::Tensor& x);

}  // namespace fewbit::ops

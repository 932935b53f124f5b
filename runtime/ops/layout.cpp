#include "ops/layout.hpp"

#include <ATen/TensorSubclassLikeUtils.h>
#include <ATen/ops/empty_like.h>

namespace fewbit::ops {

// What TensorIterator does: a stride of a dimension of size 1 says nothing, so that both of the
// usual formats come out clean; any other dense tensor is copied stride by stride.
at::Tensor like(const at::Tensor& x) {
  for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    if (x.is_contiguous(format)) return at::empty_like(x, {}, format);
  }
  return at::empty_like(x);
}

at::Tensor dense(const at::Tensor& x) {
  return x.is_non_overlapping_and_dense() ? x : like(x).copy_(x);
}

at::Tensor unexpanded(const at::Tensor& x) {
  at::Tensor elements = x.tensor_data();
  for (int64_t i = 0; i < elements.dim(); ++i) {
    const bool is_expanded = elements.sym_stride(i) == 0 && elements.sym_size(i) > 1;
    if (is_expanded) elements = elements.narrow(i, 0, 1);
  }
  return elements;
}

bool has_one_owner(const at::Tensor& x) {
  return x.use_count() == 1 && x.has_storage() && x.storage().use_count() == 1 &&
         x.is_non_overlapping_and_dense() && !x.requires_grad() && !at::isTensorSubclassLike(x);
}

}  // namespace fewbit::ops

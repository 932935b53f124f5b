#include "ops/layout.hpp"

#include <utility>

#include <ATen/TensorSubclassLikeUtils.h>
#include <ATen/ops/empty_like.h>
#include <c10/util/SmallVector.h>

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

at::Tensor seen_as(const at::Tensor& x, at::IntArrayRef sizes, at::IntArrayRef strides,
                   int64_t first) {
  if (!x.has_storage() || at::isTensorSubclassLike(x)) {
    return x.as_strided(sizes, strides, x.storage_offset() + first);
  }
  auto view = c10::make_intrusive<c10::TensorImpl>(c10::TensorImpl::VIEW, c10::Storage(x.storage()),
                                                   x.key_set(), x.dtype());
  view->set_version_counter(x.unsafeGetTensorImpl()->version_counter());
  view->set_sizes_and_strides(sizes, strides, x.storage_offset() + first);
  return at::Tensor(std::move(view));
}

at::Tensor slice_of(const at::Tensor& x, int64_t first, int64_t last) {
  if (first == 0 && last == x.size(0)) return x;
  c10::SmallVector<int64_t, 5> sizes(x.sizes().begin(), x.sizes().end());
  sizes[0] = last - first;
  return seen_as(x, sizes, x.strides(), first * x.stride(0));
}

at::Tensor in_type(const at::Tensor& x, at::ScalarType type) {
  return x.scalar_type() == type ? x : x.to(type);
}

bool has_one_owner(const at::Tensor& x) {
  return x.use_count() == 1 && x.has_storage() && x.storage().use_count() == 1 &&
         x.is_non_overlapping_and_dense() && !x.requires_grad() && !at::isTensorSubclassLike(x);
}

}  // namespace fewbit::ops

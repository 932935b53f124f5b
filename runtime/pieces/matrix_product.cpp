// The gradient of a layer's weight: grad^T x, or x^T grad, a sum over rows of x.
#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>
#include <torch/library.h>

#include "ops/layout.hpp"
#include "pieces/piecewise.hpp"

namespace fewbit::session {

namespace {

/// As many bytes as the result has, so that sums cost less than products.
int64_t result_bytes(const at::Tensor& left, const at::Tensor& right) {
  return left.size(0) * right.size(1) * static_cast<int64_t>(right.itemsize());
}

/// Sums products of pieces.
class ProductSum {
 public:
  void add(const at::Tensor& left, const at::Tensor& right) {
    if (first_.defined() && first_.scalar_type() != at::kBFloat16 &&
        first_.scalar_type() != at::kHalf) {
      at::addmm_out(first_, first_, left, right);
      return;
    }
    const at::Tensor product = at::mm(left, right);
    if (!first_.defined()) first_ = product;
    sum_.add(product);
  }
  at::Tensor result(at::ScalarType type) const { return sum_.in(type); }

 private:
  at::Tensor first_;  ///< of types that are summed as they are, the sum
  PieceSum sum_;
};

at::Tensor mm(const at::Tensor& self, const at::Tensor& other) {
  const Piecewise* const left = Piecewise::of(self);
  const Piecewise* const right = Piecewise::of(other);
  ProductSum sum;
  if (left == nullptr && right != nullptr && !right->is_transposed() &&
      are_plain({self}, right->device()) && self.size(1) == right->row_count()) {
    right->each(result_bytes(self, other),
                [&](int64_t first, int64_t last, const at::Tensor& rows) {
                  sum.add(self.slice(1, first, last), rows);
                });
    return sum.result(other.scalar_type());
  }
  if (left != nullptr && right == nullptr && left->is_transposed() &&
      are_plain({other}, left->device()) && other.size(0) == left->row_count()) {
    left->each(result_bytes(self, other), [&](int64_t first, int64_t last, const at::Tensor& rows) {
      sum.add(rows.t(), ops::slice_of(other, first, last));
    });
    return sum.result(self.scalar_type());
  }
  return at::mm(whole(self), whole(other));
}

at::Tensor t(const at::Tensor& self) {
  return self.dim() == 2 ? Piecewise::of(self)->transposed() : whole(self).t();
}

at::Tensor conj(const at::Tensor& self) {
  return self.is_complex() ? whole(self).conj() : self;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, TESTING_ONLY_GenericWrapper, m) {
  m.impl("mm", mm);
  m.impl("t", t);
  m.impl("conj", conj);
}

}  // namespace fewbit::session

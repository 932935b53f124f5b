#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>

#include <ATen/core/Tensor.h>
#include <c10/core/DispatchKey.h>
#include <c10/core/TensorImpl.h>

/// A saved tensor of which a node of the graph reads a few rows at a time, so that it is never
/// there as a whole. To libtorch it is a tensor without memory. Backward passes of convolutions,
/// products of matrices and norms take it as it is; every other operation gets the whole.
namespace fewbit::session {

/// The dispatch key of such tensors. Torch keeps it for tensors of its own tests; it lies above
/// autograd, and nothing else uses it.
inline constexpr c10::DispatchKey kPiecewiseKey = c10::DispatchKey::TESTING_ONLY_GenericWrapper;

/// Where the elements come from. Rows are indices of dimension 0.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual at::Tensor whole() const = 0;
  /// Rows [first, last), with the strides of the whole.
  virtual at::Tensor rows(int64_t first, int64_t last) const = 0;
};

class Piecewise final : public c10::TensorImpl {
 public:
  struct Layout {
    at::IntArrayRef sizes, strides;
    at::ScalarType type;
    c10::Device device;
  };
  /// at_once: so many rows are a piece.
  Piecewise(std::shared_ptr<const RowSource> source, const Layout& layout, int64_t at_once);

  /// Null for other tensors.
  static Piecewise* of(const at::Tensor& tensor);

  int64_t row_count() const { return size(is_transposed_ ? 1 : 0); }
  /// Whether rows of the source are this tensor's columns.
  bool is_transposed() const { return is_transposed_; }
  at::Tensor transposed() const;
  /// Once it was asked for, held as long as this.
  at::Tensor whole();

  /// visit(first, last, rows) for one piece after the other, none smaller in bytes than `least`.
  template <class Visit>
  void each(int64_t least, const Visit& visit) const {
    const int64_t count = row_count();
    const int64_t row_bytes = numel() / count * static_cast<int64_t>(itemsize());
    const int64_t step = std::max(at_once_, (least + row_bytes - 1) / row_bytes);
    for (int64_t first = 0; first < count; first += step) {
      const int64_t last = std::min(first + step, count);
      visit(first, last, source_->rows(first, last));
    }
  }

  c10::intrusive_ptr<c10::TensorImpl> shallow_copy_and_detach(
      const c10::VariableVersion& version_counter, bool allow_change) const override;
  c10::intrusive_ptr<c10::TensorImpl> shallow_copy_and_detach(
      c10::VariableVersion&& version_counter, bool allow_change) const override;

 private:
  c10::intrusive_ptr<Piecewise> copied() const;

  std::shared_ptr<const RowSource> source_;
  int64_t at_once_;
  bool is_transposed_ = false;
  at::Tensor whole_;
};

/// The tensor, with its memory.
at::Tensor whole(const at::Tensor& tensor);

/// Whether they are as libtorch's own code makes them on that device, or undefined: no subclass,
/// nothing of a transformation.
bool are_plain(std::initializer_list<at::Tensor> tensors, c10::Device device);

/// Where the gradient of x goes, of which `gradient` is the one of the result: into its memory,
/// where nobody else has it and it looks like x, or into memory of its own.
at::Tensor place_of_gradient(const at::Tensor& x, const at::Tensor& gradient);

/// Sums what pieces give, each rounded to a short type but not their sum.
class PieceSum {
 public:
  void add(const at::Tensor& part);
  /// Undefined where nothing was added.
  at::Tensor in(at::ScalarType type) const { return sum_.defined() ? sum_.to(type) : sum_; }

 private:
  at::Tensor sum_;
};

}  // namespace fewbit::session

#include "pieces/piecewise.hpp"

#include <array>
#include <optional>
#include <utility>

#include <ATen/TensorSubclassLikeUtils.h>
#include <ATen/ops/empty_strided.h>
#include <torch/library.h>

#include "ops/layout.hpp"

namespace fewbit::session {

Piecewise::Piecewise(std::shared_ptr<const RowSource> source, const Layout& layout, int64_t at_once)
    : TensorImpl(c10::DispatchKeySet(kPiecewiseKey), c10::scalarTypeToTypeMeta(layout.type),
                 layout.device),
      source_(std::move(source)),
      at_once_(std::max<int64_t>(at_once, 1)) {
  set_sizes_and_strides(layout.sizes, layout.strides);
  set_storage_access_should_throw();
}

Piecewise* Piecewise::of(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.key_set().has(kPiecewiseKey)) return nullptr;
  return dynamic_cast<Piecewise*>(tensor.unsafeGetTensorImpl());
}

at::Tensor Piecewise::transposed() const {
  auto result = copied();
  result->is_transposed_ = !is_transposed_;
  if (whole_.defined()) result->whole_ = whole_.t();
  const std::array<int64_t, 2> turned_sizes{size(1), size(0)}, turned_strides{stride(1), stride(0)};
  result->set_sizes_and_strides(turned_sizes, turned_strides);
  return at::Tensor(std::move(result));
}

at::Tensor Piecewise::whole() {
  if (!whole_.defined()) whole_ = is_transposed_ ? source_->whole().t() : source_->whole();
  return whole_;
}

c10::intrusive_ptr<Piecewise> Piecewise::copied() const {
  auto result = c10::make_intrusive<Piecewise>(
      source_, Layout{sizes(), strides(), c10::typeMetaToScalarType(dtype()), device()}, at_once_);
  result->is_transposed_ = is_transposed_;
  result->whole_ = whole_;
  return result;
}

c10::intrusive_ptr<c10::TensorImpl> Piecewise::shallow_copy_and_detach(
    const c10::VariableVersion& version_counter, bool allow_change) const {
  auto result = copied();
  result->set_version_counter(version_counter);
  result->set_allow_tensor_metadata_change(allow_change);
  return result;
}

c10::intrusive_ptr<c10::TensorImpl> Piecewise::shallow_copy_and_detach(
    c10::VariableVersion&& version_counter, bool allow_change) const {
  auto result = copied();
  result->set_version_counter(std::move(version_counter));
  result->set_allow_tensor_metadata_change(allow_change);
  return result;
}

at::Tensor whole(const at::Tensor& tensor) {
  Piecewise* const pieces = Piecewise::of(tensor);
  return pieces == nullptr ? tensor : pieces->whole();
}

bool are_plain(std::initializer_list<at::Tensor> tensors, c10::Device device) {
  return std::ranges::all_of(tensors, [device](const at::Tensor& x) {
    if (!x.defined()) return true;
    return x.has_storage() && x.layout() == at::kStrided && x.device() == device &&
           !at::isTensorSubclassLike(x);
  });
}

at::Tensor place_of_gradient(const at::Tensor& x, const at::Tensor& gradient) {
  if (ops::has_one_owner(gradient) && gradient.sizes() == x.sizes() &&
      gradient.strides() == x.strides() && gradient.scalar_type() == x.scalar_type()) {
    return gradient;
  }
  return at::empty_strided(x.sizes(), x.strides(), gradient.options().dtype(x.dtype()));
}

void PieceSum::add(const at::Tensor& part) {
  if (!part.defined()) return;
  const bool is_short = part.scalar_type() == at::kBFloat16 || part.scalar_type() == at::kHalf;
  if (!sum_.defined()) {
    sum_ = is_short ? part.to(at::kFloat) : part;
  } else {
    sum_.add_(part);
  }
}

namespace {

/// Puts whole tensors in the place of those in pieces.
c10::IValue with_wholes(const c10::IValue& value) {
  if (value.isTensor()) return whole(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> result;
    for (const at::Tensor& tensor : value.toTensorList()) result.push_back(whole(tensor));
    return result;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> result;
    for (const auto& element : value.toOptionalTensorList()) {
      const std::optional<at::Tensor> tensor = element;
      result.push_back(tensor ? std::optional(whole(*tensor)) : std::nullopt);
    }
    return result;
  }
  return value;
}

void run_whole(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const size_t count = operation.schema().arguments().size();
  for (size_t i = stack->size() - count; i < stack->size(); ++i) {
    (*stack)[i] = with_wholes((*stack)[i]);
  }
  operation.callBoxed(stack);
}

}  // namespace

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericWrapper, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&run_whole>());
}

}  // namespace fewbit::session

#include "compression/recompute/parameter_casts.hpp"

#include <utility>

#include <ATen/autocast_mode.h>

#include "compression/operators/recipe.hpp"
#include "compression/recompute/constant.hpp"
#include "trace/contents.hpp"

namespace fewbit::session {

namespace {

class CastAgain final : public PackedTensor {
 public:
  explicit CastAgain(Weight weight) : weight_(std::move(weight)), parameter_(weight_.held()) {}

  at::Tensor restored() const override {
    parameter_.check(kCast);
    const at::NoGradGuard no_grad;
    return weight_.tensor();
  }

  /// The parameter is the model's.
  at::TensorList tensors() const override { return {}; }

 private:
  Weight weight_;
  Constant parameter_;
};

}  // namespace

void ParameterCasts::note(const at::Tensor& parameter, const at::Tensor& result) {
  const bool is_short = result.scalar_type() == at::kHalf || result.scalar_type() == at::kBFloat16;
  // As a cast that is made again lies in memory.
  const bool is_alike = parameter.device() == result.device() &&
                        parameter.is_non_overlapping_and_dense() &&
                        parameter.sizes() == result.sizes() &&
                        parameter.strides() == result.strides() && result.storage_offset() == 0;
  if (!is_short || !is_alike || is_too_small(result)) return;
  std::erase_if(casts_, [](const auto& known) { return known.second.memory.owner.expired(); });
  casts_.insert_or_assign(address_of(result),
                          Cast{memory_of(result), result._version(), parameter});
}

const ParameterCasts::Cast* ParameterCasts::find(const at::Tensor& tensor) const {
  if (casts_.empty()) return nullptr;
  const auto found = casts_.find(address_of(tensor));
  if (found == casts_.end()) return nullptr;
  const Cast& cast = found->second;
  const bool is_it = !cast.memory.owner.expired() && cast.version == tensor._version();
  return is_it ? &cast : nullptr;
}

Weight ParameterCasts::weight_of(const at::Tensor& tensor) const {
  const Cast* const cast = find(tensor);
  return cast == nullptr ? Weight(tensor) : Weight(tensor, cast->parameter);
}

std::unique_ptr<const PackedTensor> ParameterCasts::packed(const at::Tensor& tensor) {
  const Cast* const cast = find(tensor);
  if (cast == nullptr) return nullptr;
  if (cast->parameter.requires_grad()) {  // autocast holds no others
    const bool is_first =
        seen_.try_emplace(address_of(cast->parameter), memory_of(cast->parameter)).second;
    if (!is_first) return nullptr;
    at::autocast::clear_cache();
  }
  return std::make_unique<CastAgain>(Weight(tensor, cast->parameter));
}

}  // namespace fewbit::session

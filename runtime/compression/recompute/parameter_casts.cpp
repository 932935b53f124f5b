#include "compression/recompute/parameter_casts.hpp"

#include <utility>

#include <ATen/autocast_mode.h>

#include "compression/operators/recipe.hpp"
#include "compression/recompute/constant.hpp"
#include "trace/contents.hpp"
#include "trace/model_parameters.hpp"

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

void ParameterCasts::note(const at::Tensor& parameter, const at::Tensor& cast) {
  std::erase_if(frozen_, [](const auto& known) { return known.second.cast.owner.expired(); });
  Memory memory = memory_of(cast);
  const void* const address = memory.address();
  frozen_.insert_or_assign(address, Frozen{std::move(memory), parameter.detach()});
}

std::unique_ptr<const PackedTensor> ParameterCasts::packed(const at::Tensor& tensor) {
  const bool is_short = tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16;
  if (!is_short || is_too_small(tensor)) return nullptr;
  const auto frozen = frozen_.find(memory_of(tensor).address());
  const bool is_frozen = frozen != frozen_.end();
  Weight weight = is_frozen ? Weight(tensor, frozen->second.parameter) : Weight(tensor);
  if (!weight.is_cast()) return nullptr;
  if (!is_frozen) {  // else nobody has it a second time
    Memory memory = memory_of(weight.held());
    const void* const address = memory.address();
    if (!seen_.try_emplace(address, std::move(memory)).second) return nullptr;
    at::autocast::clear_cache();
  }
  return std::make_unique<CastAgain>(std::move(weight));
}

}  // namespace fewbit::session

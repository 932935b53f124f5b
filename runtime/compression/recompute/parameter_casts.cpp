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

std::unique_ptr<const PackedTensor> ParameterCasts::packed(const at::Tensor& tensor) {
  const bool is_short = tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16;
  if (!is_short || is_too_small(tensor)) return nullptr;
  Weight weight(tensor);
  if (!weight.is_cast()) return nullptr;
  Memory memory = memory_of(weight.held());
  const void* const address = memory.address();
  if (!seen_.try_emplace(address, std::move(memory)).second) return nullptr;
  at::autocast::clear_cache();
  return std::make_unique<CastAgain>(std::move(weight));
}

}  // namespace fewbit::session

#include "examples/support/subject.hpp"

#include <mutex>

#include <ATen/ops/cross_entropy_loss.h>
#include <c10/util/Exception.h>
#include <torch/utils.h>

#include "examples/support/data.hpp"
#include "examples/support/models.hpp"

namespace fewbit::examples {

namespace {

constexpr int64_t kPictures = 50, kPieces = 16;

std::mt19937_64 random_for(uint64_t seed, int64_t step) {
  return std::mt19937_64(seed * 1'000'003 + static_cast<uint64_t>(step));
}

Subject make_mlp(uint64_t seed) {
  static const Digits digits = load_digits(FEWBIT_DIGITS_CSV);
  Mlp model(128);
  const auto loss = [model, seed](int64_t step, const Activate& activate) mutable {
    std::mt19937_64 random = random_for(seed, step);
    const Batch batch = draw_digits(digits, kPictures, random);
    return at::cross_entropy_loss(model->forward(batch.inputs, activate), batch.targets);
  };
  return {model->parameters(), loss, {"adam", 1e-3, 400}};
}

Subject make_transformer(bool gated, uint64_t seed) {
  static const std::string text = load_licences();
  const TransformerOptions options{.blocks = 2, .width = 48, .context = 32, .gated = gated};
  Transformer model(options);
  const auto loss = [model, seed, options](int64_t step, const Activate& activate) mutable {
    std::mt19937_64 random = random_for(seed, step);
    const Batch batch = draw_text(text, kPieces, options.context, random);
    const at::Tensor scores = model->forward(batch.inputs, activate);
    return at::cross_entropy_loss(scores.flatten(0, 1), batch.targets.flatten());
  };
  return {model->parameters(), loss, {"adam", 2e-3, 500}};
}

}  // namespace

Subject make_subject(const std::string& model, const std::string& function, uint64_t seed) {
  // First parameters come from the one default generator.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  torch::manual_seed(seed);
  if (model == "mlp") return make_mlp(seed);
  TORCH_CHECK(model == "transformer", "make_subject: mlp or transformer, not ", model);
  return make_transformer(function == "silu", seed);
}

}  // namespace fewbit::examples

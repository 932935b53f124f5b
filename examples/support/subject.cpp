#include "examples/support/subject.hpp"

#include <mutex>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/randn.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <torch/utils.h>

#include "examples/support/data.hpp"
#include "examples/support/models.hpp"

namespace fewbit::examples {

namespace {

constexpr int64_t kPictures = 50, kPieces = 16;
constexpr int64_t kApart = -1;  // no step's number

std::mt19937_64 random_for(uint64_t seed, int64_t step) {
  return std::mt19937_64(seed * 1'000'003 + static_cast<uint64_t>(step));
}

const Digits& all_digits() {
  static const Digits digits = load_digits(FEWBIT_DIGITS_CSV);
  return digits;
}

template <class Model>
auto accuracy_of(Model model, const Batch& batch) {
  return [model, batch](const Activate& activate) mutable {
    const c10::NoGradGuard no_gradient;
    model->eval();
    const at::Tensor scores = model->forward(batch.inputs, activate);
    model->train();
    return percent_right(scores, batch.targets);
  };
}

template <class Model>
Subject make_classifier(Model model, uint64_t seed, int64_t times) {
  const auto loss = [model, seed, times](int64_t step, const Activate& activate) mutable {
    std::mt19937_64 random = random_for(seed, step);
    const Batch batch = draw_digits(all_digits(), kPictures * times, random);
    return at::cross_entropy_loss(model->forward(batch.inputs, activate), batch.targets);
  };
  const Digits& digits = all_digits();
  return {model->parameters(),
          model->named_parameters().keys(),
          loss,
          {"adam", 1e-3, 400},
          accuracy_of(model, {digits.test_pictures, digits.test_digits})};
}

Subject make_transformer(bool gated, uint64_t seed, int64_t times) {
  static const std::string text = load_licences();
  const TransformerOptions options{.blocks = 2, .width = 48, .context = 32, .gated = gated};
  Transformer model(options);
  const auto loss = [model, seed, times, options](int64_t step, const Activate& activate) mutable {
    std::mt19937_64 random = random_for(seed, step);
    const Batch batch = draw_text(text, kPieces * times, options.context, random);
    const at::Tensor scores = model->forward(batch.inputs, activate);
    return at::cross_entropy_loss(scores.flatten(0, 1), batch.targets.flatten());
  };
  std::mt19937_64 random = random_for(seed, kApart);
  return {model->parameters(),
          model->named_parameters().keys(),
          loss,
          {"adam", 2e-3, 500},
          accuracy_of(model, draw_text(text, kPieces * 16, options.context, random))};
}

Subject make_encoder_subject(int64_t times) {
  using Sizes = EncoderSizes;
  torch::nn::TransformerEncoder model = make_encoder();
  const at::Tensor x = at::randn({Sizes::kLength, Sizes::kSequences * times, Sizes::kWidth});
  const auto loss = [model, x](int64_t, const Activate&) mutable {
    return model->forward(x).square().mean();
  };
  return {model->parameters(), model->named_parameters().keys(), loss, {"adam", 1e-3, 500}};
}

}  // namespace

Subject make_subject(const std::string& model, const std::string& function, uint64_t seed,
                     int64_t times) {
  // First parameters come from the one default generator.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  torch::manual_seed(seed);
  if (model == "mlp") return make_classifier(Mlp(128), seed, times);
  if (model == "cnn") return make_classifier(Cnn(8), seed, times);
  if (model == "normed cnn") return make_classifier(NormedCnn(16), seed, times);
  if (model == "transformer") return make_transformer(function == "silu", seed, times);
  TORCH_CHECK(model == "encoder",
              "make_subject: mlp, cnn, normed cnn, transformer or encoder, not ", model);
  TORCH_CHECK(function == "gelu", "make_subject: the encoder's function is gelu");
  return make_encoder_subject(times);
}

}  // namespace fewbit::examples

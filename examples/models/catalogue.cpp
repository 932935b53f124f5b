#include "examples/models/catalogue.hpp"

#include <algorithm>
#include <utility>

#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>
#include <torch/utils.h>

#include "examples/models/bert.hpp"
#include "examples/models/densenet.hpp"
#include "examples/models/gpt.hpp"
#include "examples/models/resnet.hpp"
#include "examples/models/vgg.hpp"
#include "examples/models/vit.hpp"

namespace fewbit::examples {

namespace {

constexpr int64_t kImageNetSide = 224, kCifarSide = 32;
constexpr int64_t kGptTokens = 256;

using Maker = std::function<ModelSubject(int64_t batch)>;

template <class Model>
std::function<void(const RunBlock&)> block_runner(Model model) {
  if constexpr (requires { model->bert->run_block; }) {
    return block_runner(model->bert);
  } else if constexpr (requires { model->run_block; }) {
    return [model](const RunBlock& run) mutable { model->run_block = run; };
  } else {
    return nullptr;
  }
}

template <class Model, class Scores>
ModelSubject subject_of(Model model, Scores scores, std::vector<at::Tensor> inputs,
                        const at::Tensor& targets) {
  std::vector<at::Tensor> beside = model->buffers();
  beside.insert(beside.end(), inputs.begin(), inputs.end());
  beside.push_back(targets);
  return {model->parameters(),
          model->named_parameters().keys(),
          std::move(beside),
          [scores, targets]() mutable { return at::cross_entropy_loss(scores(), targets); },
          [model] {
            bool dropped = false;
            for (const auto& module : model->modules()) {
              if (auto* dropout = module->template as<torch::nn::Dropout>()) {
                dropped = dropped || dropout->options.p() > 0.0;
                dropout->options.p(0.0);
              }
            }
            return dropped;
          },
          block_runner(model)};
}

at::Tensor random_integers(int64_t below, at::IntArrayRef sizes) {
  return at::randint(below, sizes, at::kLong);
}

template <class Model, class Options>
Maker pictures(const Options& options, int64_t side = kImageNetSide) {
  return [options, side](int64_t batch) {
    Model model(options);
    const at::Tensor x = at::randn({batch, 3, side, side});
    return subject_of(
        model, [model, x]() mutable { return model->forward(x); }, {x},
        random_integers(options.classes, {batch}));
  };
}

/// Two sentences of the same length, one after the other.
Maker bert(const BertOptions& options, int64_t length) {
  return [options, length](int64_t batch) {
    BertClassifier model(options);
    const at::Tensor tokens = random_integers(options.vocabulary, {batch, length});
    const at::Tensor first = at::zeros({batch, length / 2}, at::kLong);
    const at::Tensor types = at::cat({first, at::ones_like(first)}, 1);
    return subject_of(
        model, [model, tokens, types]() mutable { return model->forward(tokens, types); },
        {tokens, types}, random_integers(options.classes, {batch}));
  };
}

/// Every token but the first is what is to be said after those before it.
ModelSubject gpt(int64_t batch) {
  const GptOptions options;
  Gpt model(options);
  const at::Tensor tokens = random_integers(options.vocabulary, {batch, kGptTokens + 1});
  const at::Tensor x = tokens.narrow(1, 0, kGptTokens);
  const at::Tensor targets = tokens.narrow(1, 1, kGptTokens).flatten();
  return subject_of(
      model, [model, x]() mutable { return model->forward(x).flatten(0, 1); }, {x}, targets);
}

std::vector<std::pair<std::string, Maker>> catalogue() {
  return {
      {"resnet18", pictures<ResNet>(resnet18())},
      {"resnet50", pictures<ResNet>(resnet50())},
      {"resnet152", pictures<ResNet>(resnet152())},
      {"wide_resnet50_2", pictures<ResNet>(wide_resnet50_2())},
      {"resnet50_cifar", pictures<ResNet>(resnet50_cifar(), kCifarSide)},
      {"resnet18_cifar", pictures<ResNet>(resnet18_cifar(), kCifarSide)},
      {"preresnet164_cifar", pictures<PreResNet>(PreResNetOptions{}, kCifarSide)},
      {"vgg11", pictures<Vgg>(VggOptions{})},
      {"vgg11_bn", pictures<Vgg>(VggOptions{.batch_norm = true})},
      {"densenet121", pictures<DenseNet>(DenseNetOptions{})},
      {"vit_small_16", pictures<Vit>(VitOptions{})},
      {"bert_small_128", bert(bert_small(), 128)},
      {"bert_base", bert(bert_base(), 512)},
      {"bert_base_128", bert(bert_base(), 128)},
      {"bert_large", bert(bert_large(), 512)},
      {"bert_large_128", bert(bert_large(), 128)},
      {"gpt", gpt},
  };
}

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& [name, make] : catalogue()) names.push_back(name);
  return names;
}

ModelSubject make_model(const std::string& name, int64_t batch) {
  TORCH_CHECK(batch > 0, "make_model: a batch of ", batch);
  const auto models = catalogue();
  const auto found = std::ranges::find(models, name, &std::pair<std::string, Maker>::first);
  TORCH_CHECK(found != models.end(), "make_model: ", c10::Join(", ", model_names()), ", not ",
              name);
  torch::manual_seed(1);
  return found->second(batch);
}

}  // namespace fewbit::examples

#include "bench/codecs/saved_runs.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include <ATen/ATen.h>

#include "examples/support/subject.hpp"
#include "ops/layout.hpp"
#include "trace/saved_tensors.hpp"

namespace fewbit::bench {

namespace {

constexpr int64_t kElements = 1 << 14;  // of all layers together
constexpr int64_t kUnit = 256;
constexpr std::string_view kAttention = "aten::_scaled_dot_product_flash_attention_for_cpu";

struct Kind {
  std::string_view operation;
  int argument;            // -1: a result
  std::string_view maker;  // empty: whoever
  const char* name;
};

constexpr Kind kKinds[] = {
    {"aten::native_layer_norm", 0, "", "norm's input"},
    {"aten::mm", 0, "NativeLayerNormBackward0", "linear's input, norm's output"},
    {"aten::mm", 0, "CloneBackward0", "attention's output"},
    {"aten::mm", 0, "GeluBackward0", "GELU's output"},
    {"aten::addmm", 1, "GeluBackward0", "GELU's output"},
    {"aten::convolution", 0, "GeluBackward0", "GELU's output"},
    {"aten::convolution", 0, "ReluBackward0", "ReLU's output"},
    {"aten::addmm", 1, "ReluBackward0", "ReLU's output"},
    {"aten::gelu", 0, "ConvolutionBackward0", "convolution's output"},
    {kAttention, 0, "", "query"},
    {kAttention, 1, "", "key"},
    {kAttention, 2, "", "value"},
    {"aten::mm", 0, "ScaledDotProductFlashAttentionForCpuBackward0", "attention's output"},
    {"aten::bmm", 0, "MulBackward1", "query"},
    {"aten::bmm", 1, "CloneBackward0", "key, value"},
    {"aten::_softmax", -1, "", "softmax's probabilities"},
    {"aten::_log_softmax", -1, "", "log_softmax's probabilities"},
};

const char* kind_of(const session::SaveEvent& saving) {
  for (const Kind& kind : kKinds) {
    if (kind.operation == saving.facts.operation && kind.argument == saving.argument &&
        (kind.maker.empty() || kind.maker == saving.facts.maker)) {
      return kind.name;
    }
  }
  return nullptr;
}

/// Remembers what is saved, by kind, and changes nothing.
class Collector final : public session::SavedTensorUser {
 public:
  std::unique_ptr<const session::PackedTensor> replace(const at::Tensor& tensor,
                                                       const session::SaveEvent& saving) override {
    const char* kind = kind_of(saving);
    if (kind == nullptr || saving.facts.parameter || tensor.numel() < 1024) return nullptr;
    const at::Tensor dense = ops::dense(tensor.detach());
    at::Tensor run = dense.as_strided({dense.numel()}, {1}).clone();
    if (saving.facts.operation == "aten::_log_softmax") run.exp_();
    if (!runs.contains(kind)) {
      order.emplace_back(kind);
      if (tensor.dim() == 4 && saving.facts.operation != kAttention) {
        maps[kind] = tensor.detach().contiguous().clone();
      }
    }
    runs[kind].push_back(run);
    return nullptr;
  }
  session::Keeping keep(const session::SaveEvent& /*saving*/) override { return nullptr; }

  std::vector<std::string> order;
  std::map<std::string, std::vector<at::Tensor>> runs;
  std::map<std::string, at::Tensor> maps;
};

at::Tensor parts_of(const std::vector<at::Tensor>& layers) {
  const int64_t share = kElements / static_cast<int64_t>(layers.size()) / kUnit * kUnit;
  std::vector<at::Tensor> parts;
  for (const at::Tensor& layer : layers) {
    parts.push_back(layer.narrow(0, 0, std::min(share, layer.numel())));
  }
  return at::cat(parts);
}

std::vector<SavedRun> runs_of(const std::string& model, int64_t steps) {
  const bool is_relu = model.ends_with("ReLU");
  const examples::Activate activate = [is_relu](const at::Tensor& x) {
    return is_relu ? at::relu(x) : at::gelu(x);
  };
  examples::Subject subject = examples::make_subject(model.substr(0, model.find(',')), "gelu", 1);
  subject.recipe.steps = steps;
  examples::train(subject.parameters, subject.loss, activate, subject.recipe);
  const auto collector = std::make_shared<Collector>();
  {
    const session::SavedTensorUse use("saved_runs", collector);
    subject.loss(steps, activate);
  }
  std::vector<SavedRun> result;
  for (const std::string& kind : collector->order) {
    result.push_back({model, kind, parts_of(collector->runs.at(kind)), collector->maps[kind]});
  }
  return result;
}

}  // namespace

std::vector<SavedRun> saved_runs(const std::vector<std::string>& models, int64_t steps) {
  std::vector<SavedRun> result;
  for (const std::string& model : models) {
    for (SavedRun& run : runs_of(model, steps)) result.push_back(std::move(run));
  }
  return result;
}

std::vector<std::string> models_of_runs() {
  return {"transformer", "cnn", "cnn, ReLU", "encoder"};
}

}  // namespace fewbit::bench

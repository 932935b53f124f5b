#include <algorithm>

#include <ATen/ATen.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include "bench/codecs/draws.hpp"
#include "bench/codecs/forms.hpp"
#include "bench/codecs/gradient_study.hpp"
#include "bench/codecs/layers.hpp"

namespace fewbit::bench {

namespace {

constexpr const char* kProducts[] = {"aten::mm", "aten::addmm", "aten::convolution"};
constexpr int kStates = 4;  // of the trellis: the compressor's default

at::Tensor loss_of(const TrainedSubject& trained) {
  return trained.subject.loss(trained.step, [](const at::Tensor& x) { return at::gelu(x); });
}

void set_rules(const TrainedSubject& trained, const Coding& coding, Compressor& compressor) {
  torch::OrderedDict<std::string, at::Tensor> parameters;
  for (size_t i = 0; i < trained.exact.size(); ++i) {
    parameters.insert(trained.subject.names[i], trained.subject.parameters[i]);
  }
  compressor.name(parameters).rule("*", Bits{coding.bits});
  if (coding.exact_attention) compressor.leave_alone("*scaled_dot_product*");
  if (coding.activation_bits != 0) return;
  compressor.leave_alone("*");
  for (const char* product : kProducts) compressor.rule(product, Bits{coding.bits});
}

std::vector<at::Tensor> coded_gradients(const TrainedSubject& trained, const Coding& coding,
                                        Compressor& compressor) {
  at::Tensor loss;
  {
    const CompressionScope scope(compressor);
    std::optional<ActivationScope> exact;
    if (coding.activation_bits == 0) exact.emplace().leave_alone("gelu");
    loss = loss_of(trained);
  }
  return torch::autograd::grad({loss}, trained.subject.parameters);
}

bool is_product(const std::string& operation) {
  return std::ranges::find(kProducts, operation) != std::end(kProducts);
}

/// By the codec that the compressor took for the layer's input.
double predicted_noise(const Layer& layer, const std::string& weight, const Coding& coding,
                       const Compressor& compressor) {
  const std::string module = weight.substr(0, weight.rfind('.'));
  const std::vector<Compressor::Site> sites = compressor.sites();
  const auto site = std::ranges::find_if(sites, [&](const Compressor::Site& one) {
    return one.module == module && is_product(one.operation);
  });
  TORCH_CHECK(site != sites.end(), "gradient_errors: nothing is coded at ", module);
  const bool is_grouped = site->stored.text().starts_with("group");
  return noise_of(layer, is_grouped ? grouped_variance(layer.x, coding.bits, "stochastic")
                                    : rotated_variance(layer.x, coding.bits, kStates));
}

at::Tensor flat(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& tensor : tensors) parts.push_back(tensor.reshape({-1}));
  return at::cat(parts);
}

}  // namespace

TrainedSubject train_subject(const std::string& model, int64_t steps) {
  TrainedSubject trained{model, examples::make_subject(model, "gelu", 1), steps, {}};
  trained.subject.recipe.steps = steps;
  examples::train(
      trained.subject.parameters, trained.subject.loss,
      [](const at::Tensor& x) { return at::gelu(x); }, trained.subject.recipe);
  trained.exact = torch::autograd::grad({loss_of(trained)}, trained.subject.parameters);
  return trained;
}

GradientNoise measure(const TrainedSubject& trained, const Coding& coding, int64_t draws) {
  Compressor compressor({.bits = static_cast<double>(coding.bits),
                         .scheme = coding.scheme,
                         .activation_bits = std::max(1, coding.activation_bits),
                         .group = kGroup,
                         .trellis = kStates});
  set_rules(trained, coding, compressor);
  const size_t count = trained.exact.size();
  const at::Tensor exact = flat(trained.exact);
  GradientNoise result{{}, {"all", energy_of(exact), {}, 0.0}};
  for (size_t i = 0; i < count; ++i) {
    result.parameters.push_back(
        {trained.subject.names[i], energy_of(trained.exact[i]), {}, std::nullopt});
  }
  torch::manual_seed(7);
  for (int64_t draw = 0; draw < draws; ++draw) {
    const std::vector<at::Tensor> coded = coded_gradients(trained, coding, compressor);
    for (size_t i = 0; i < count; ++i) result.parameters[i].draws.add(coded[i] - trained.exact[i]);
    result.all.draws.add(flat(coded) - exact);
  }
  for (const Layer& layer : layers_of(loss_of(trained), trained.subject.parameters)) {
    ParameterNoise& weight = result.parameters[layer.parameter];
    weight.predicted = predicted_noise(layer, weight.name, coding, compressor);
    *result.all.predicted += *weight.predicted;
  }
  return result;
}

}  // namespace fewbit::bench

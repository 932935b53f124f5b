#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include "fewbit/compressor.hpp"
#include "tests/stand_in/device/device.hpp"
#include "tests/support/compression_model.hpp"

// Small networks that are the same on every device.
namespace fewbit::test {

struct SmallNetwork {
  using Tensors = std::vector<at::Tensor>;

  std::string name;
  at::Tensor x;
  Tensors parameters;
  std::function<at::Tensor(const at::Tensor& x, const Tensors& parameters)> loss;

  SmallNetwork on(at::Device device) const {
    SmallNetwork result{name, x.to(device), {}, loss};
    for (const at::Tensor& one : parameters) {
      result.parameters.push_back(one.detach().to(device).requires_grad_());
    }
    return result;
  }

  at::Tensor loss_in(Compressor* compressor) const {
    std::optional<CompressionScope> scope;
    if (compressor != nullptr) scope.emplace(*compressor);
    return loss(x * 1.0, parameters);
  }

  Tensors gradients(Compressor* compressor) const {
    return torch::autograd::grad({loss_in(compressor)}, parameters);
  }
  /// In memory of the host.
  at::Tensor gradient(Compressor* compressor) const { return flat(gradients(compressor)).cpu(); }
};

inline at::Tensor small_parameter(at::IntArrayRef sizes, double scale, double offset = 0.0) {
  return (at::randn(sizes) * scale + offset).requires_grad_();
}

/// Norms, activations and linear layers.
template <class Activation>
SmallNetwork layers_with(const char* name, const Activation& activation) {
  return {
      name,
      at::randn({32, 48}),
      {small_parameter({48, 48}, 0.2), small_parameter({48}, 0.1, 1.0), small_parameter({48}, 0.1),
       small_parameter({64, 48}, 0.2), small_parameter({64}, 0.1), small_parameter({48, 64}, 0.2)},
      [=](const at::Tensor& x, const std::vector<at::Tensor>& p) {
        const at::Tensor h = at::layer_norm(at::linear(x, p[0]), {48}, p[1], p[2]);
        const at::Tensor wide = activation(at::linear(h, p[3], p[4]));
        const at::Tensor narrow = at::relu(at::linear(wide, p[5]) + h);
        return at::linear(narrow + x, p[0]).square().mean();
      }};
}

inline SmallNetwork layers_network() {
  return layers_with("layers", [](const at::Tensor& x) { return at::leaky_relu(x, 0.1); });
}

inline SmallNetwork curved_network() {
  at::manual_seed(5);
  return layers_with("curved", [](const at::Tensor& x) { return at::gelu(x) + at::silu(x); });
}

/// Convolutions, batch norms and pooling.
inline SmallNetwork pictures_network() {
  return {"pictures",
          at::randn({4, 3, 12, 12}),
          {small_parameter({8, 3, 3, 3}, 0.2), small_parameter({8}, 0.1, 1.0),
           small_parameter({8}, 0.1), small_parameter({8, 8, 3, 3}, 0.2),
           small_parameter({10, 288}, 0.1)},
          [](const at::Tensor& x, const std::vector<at::Tensor>& p) {
            const at::Tensor first = at::conv2d(x, p[0], {}, 1, 1);
            const at::Tensor normal =
                at::batch_norm(first, p[1], p[2], {}, {}, true, 0.1, 1e-5, false);
            const at::Tensor pooled = at::max_pool2d(at::relu(normal), 2);
            const at::Tensor second = at::relu(at::conv2d(pooled, p[3], {}, 1, 1) + pooled);
            return at::log_softmax(at::linear(second.flatten(1), p[4]), 1).select(1, 0).mean();
          }};
}

/// Attention and probabilities.
inline SmallNetwork attention_network() {
  return {"attention",
          at::randn({2, 24, 32}),
          {small_parameter({96, 32}, 0.2), small_parameter({32, 32}, 0.2),
           small_parameter({32}, 0.1, 1.0), small_parameter({32}, 0.1)},
          [](const at::Tensor& x, const std::vector<at::Tensor>& p) {
            const auto parts = at::linear(x, p[0]).chunk(3, 2);
            const at::Tensor mixed = at::scaled_dot_product_attention(parts[0], parts[1], parts[2]);
            const at::Tensor h = at::layer_norm(x + at::linear(mixed, p[1]), {32}, p[2], p[3]);
            const at::Tensor weights = at::softmax(at::matmul(h, h.transpose(1, 2)), 2);
            return at::linear(at::matmul(weights, h), p[1]).square().mean();
          }};
}

/// Layers whose codes are large enough to be offloaded.
inline SmallNetwork wide_network() {
  at::manual_seed(6);
  SmallNetwork result{"wide", at::randn({96, 128}), {}, {}};
  for (int i = 0; i < 3; ++i) result.parameters.push_back(small_parameter({128, 128}, 0.1));
  result.loss = [](const at::Tensor& x, const std::vector<at::Tensor>& weights) {
    at::Tensor h = x;
    for (const at::Tensor& weight : weights) h = at::gelu(at::linear(h, weight)) + h;
    return (h * at::sigmoid(h)).square().mean();
  };
  return result;
}

inline std::vector<SmallNetwork> small_networks() {
  at::manual_seed(5);
  return {layers_network(), pictures_network(), attention_network()};
}

/// Every scheme, and of ours what changes codecs.
inline std::vector<CompressorOptions> every_scheme() {
  return {{.bits = 2},
          {.bits = 2.5, .trellis = 4},
          {.bits = 3, .directions = 4},
          {.bits = 2, .scheme = Scheme::group},
          {.bits = 2.5, .scheme = Scheme::actnn},
          {.scheme = Scheme::actnn, .level = 1},
          {.bits = 3, .scheme = Scheme::gact},
          {.bits = 2, .scheme = Scheme::division},
          {.bits = 4, .scheme = Scheme::blpa}};
}

}  // namespace fewbit::test

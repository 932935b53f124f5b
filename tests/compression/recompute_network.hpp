#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/support/compression_model.hpp"

// Networks in a compressor whose kinds of recomputation are asked for.
namespace fewbit::test {

inline const std::vector<std::string> kNames = {"copy", "norm",       "relu",   "dropout",
                                                "sum",  "activation", "linear", "softmax"};

inline void derive_all(Compressor& compressor, Recompute when) {
  for (const std::string& name : kNames) compressor.recompute(name, when);
}

/// How every site is stored, in their order.
inline std::vector<StoredAs> stored(const Compressor& compressor) {
  std::vector<StoredAs> all;
  for (const Compressor::Site& site : compressor.sites()) all.push_back(site.stored);
  return all;
}

/// What follows makes of h, and the tensors whose gradients are looked at.
struct Network {
  at::Tensor x;
  std::vector<at::Tensor> parameters;
  std::function<at::Tensor(const at::Tensor& x)> forward;

  at::Tensor gradients(Compressor* compressor) const {
    at::Tensor y;
    {
      std::optional<CompressionScope> scope;
      if (compressor != nullptr) scope.emplace(*compressor);
      y = forward(x * 1.0);  // x itself has no node
    }
    at::manual_seed(21);
    return flat(torch::autograd::grad({y}, parameters, {at::randn_like(y)}));
  }
};

inline at::Tensor parameter(at::IntArrayRef sizes) {
  return (at::randn(sizes) * 0.3 + 1.0).detach().requires_grad_();
}

/// Steps of a network in one compressor, every recompute asked for; how far the last is from
/// exact.
inline double derived_distance(const Network& network, Compressor& compressor) {
  const at::Tensor exact = network.gradients(nullptr);
  derive_all(compressor, Recompute::always);
  for (int step = 0; step < 2; ++step) network.gradients(&compressor);
  return distance(network.gradients(&compressor), exact);
}

}  // namespace fewbit::test

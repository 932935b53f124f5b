#pragma once

#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include "fewbit/compressor.hpp"

// A small model, and its gradients with what it keeps coded.
namespace fewbit::test {

inline constexpr int64_t kWidth = 64;

inline torch::nn::Sequential mlp() {
  at::manual_seed(1);
  return torch::nn::Sequential(torch::nn::Linear(kWidth, kWidth),
                               torch::nn::LayerNorm(torch::nn::LayerNormOptions({kWidth})),
                               torch::nn::GELU(), torch::nn::Linear(kWidth, kWidth));
}

inline at::Tensor input() {
  at::manual_seed(2);
  return at::randn({100, kWidth});
}

inline at::Tensor flat(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& tensor : tensors) parts.push_back(tensor.reshape(-1));
  return at::cat(parts);
}

/// The mean square, which keeps nothing in bits.
inline at::Tensor loss_of(torch::nn::Sequential& model, const at::Tensor& x) {
  const at::Tensor y = model->forward(x);
  return at::mse_loss(y, at::zeros_like(y));
}

/// The gradients of all parameters, of a forward inside a scope of the compressor, or outside.
inline at::Tensor gradients(torch::nn::Sequential& model, const at::Tensor& x,
                            Compressor* compressor) {
  at::Tensor loss;
  {
    std::optional<CompressionScope> scope;
    if (compressor != nullptr) scope.emplace(*compressor);
    loss = loss_of(model, x);
  }
  return flat(torch::autograd::grad({loss}, model->parameters()));
}

inline double distance(const at::Tensor& x, const at::Tensor& exact) {
  return ((x - exact).norm() / exact.norm()).item<double>();
}

/// Those that a codec keeps: without what activations keep of themselves.
inline std::vector<Compressor::Site> coded_sites(const Compressor& compressor) {
  std::vector<Compressor::Site> sites = compressor.sites();
  std::erase_if(sites, [](const auto& site) { return site.operation == "fewbit::activation"; });
  return sites;
}

/// The places of a report, without what it says of what is left alone.
inline std::string places_of(const Compressor& compressor) {
  const std::string report = compressor.report();
  return report.substr(0, report.find("\nleft alone"));
}

/// The sensitivities that the compressor's file tells, of those places.
inline std::vector<double> sensitivities(const Compressor& compressor) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();  // others run beside
  const std::string path = testing::TempDir() + "fewbit_" + test->test_suite_name() + test->name();
  compressor.save(path);
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  std::getline(file, line);
  std::vector<double> all;
  while (std::getline(file, line)) {
    if (line.ends_with("fewbit::activation")) continue;
    std::istringstream words(line);
    std::string word;
    for (int i = 0; i < 15; ++i) words >> word;
    all.push_back(std::stod(word));
  }
  return all;
}

}  // namespace fewbit::test

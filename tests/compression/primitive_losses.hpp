#pragma once

#include <functional>
#include <tuple>
#include <vector>

#include <ATen/ATen.h>

// Losses of logits and targets, 0 or 1, as users write them of primitives.
namespace fewbit::test {

using Loss = std::function<at::Tensor(const at::Tensor& logits, const at::Tensor& target)>;

struct NamedLoss {
  const char* name;
  Loss loss;
  double most = 0.6;  ///< relative error at 2 bits, of products with what is coded
};

/// Over sigmoid, tanh and softplus.
inline const std::vector<NamedLoss>& losses_of_gates() {
  static const std::vector<NamedLoss> all = {
      {"bce(sigmoid)",
       [](const auto& x, const auto& y) { return at::binary_cross_entropy(at::sigmoid(x), y); }},
      {"bce with logits",
       [](const auto& x, const auto& y) { return at::binary_cross_entropy_with_logits(x, y); }},
      {"y log p + (1 - y) log(1 - p)",
       [](const auto& x, const auto& y) {
         const at::Tensor p = at::sigmoid(x);
         return -(y * at::log(p + 1e-12) + (1.0 - y) * at::log(1.0 - p + 1e-12)).mean();
       }},
      {"-log sigmoid of a difference",
       [](const auto& x, const auto& y) {
         return -at::log(at::sigmoid((2.0 * y - 1.0) * x)).mean();
       }},
      {"-logsigmoid",
       [](const auto& x, const auto& y) { return -at::log_sigmoid((2.0 * y - 1.0) * x).mean(); }},
      {"softplus", [](const auto& x, const auto& y) { return (at::softplus(x) - y * x).mean(); }},
      {"focal",
       [](const auto& x, const auto& y) {
         const at::Tensor p = at::sigmoid((2.0 * y - 1.0) * x);
         return -((1.0 - p).pow(2.0) * at::log(p)).mean();
       }},
  };
  return all;
}

/// Over sums and cancelling products.
inline const std::vector<NamedLoss>& losses_of_sums() {
  static const std::vector<NamedLoss> all = {
      {"dice",
       [](const auto& x, const auto& y) {
         const at::Tensor p = at::sigmoid(x);
         return 1.0 - 2.0 * (p * y).sum() / (p.sum() + y.sum());
       }},
      {"jaccard",
       [](const auto& x, const auto& y) {
         const at::Tensor p = at::sigmoid(x), both = (p * y).sum();
         return 1.0 - both / (p.sum() + y.sum() - both);
       }},
      {"squared error of sigmoid",
       [](const auto& x, const auto& y) { return at::mse_loss(at::sigmoid(x), y); }},
      {"squared error of tanh",
       [](const auto& x, const auto& y) { return at::mse_loss(at::tanh(x), 2.0 * y - 1.0); }},
      {"log(1 - tanh^2)",
       [](const auto& x, const auto& /*y*/) {
         return -at::log(1.0 - at::tanh(x).pow(2.0) + 1e-6).mean();
       }},
      {"atanh of tanh",
       [](const auto& x, const auto& /*y*/) { return at::atanh(at::tanh(x) * 0.999).mean(); }},
      {"log softplus",
       [](const auto& x, const auto& /*y*/) { return at::log(at::softplus(x)).mean(); }},
      {"Gaussian with softplus deviation",
       [](const auto& x, const auto& y) {
         const at::Tensor deviation = at::softplus(x) + 1e-3;
         return ((y / deviation).pow(2.0) + 2.0 * at::log(deviation)).mean();
       }},
      {"entropy of a gate",
       [](const auto& x, const auto& /*y*/) {
         const at::Tensor p = at::sigmoid(x);
         return -(p * at::log_sigmoid(x) + (1.0 - p) * at::log_sigmoid(-x)).mean();
       },
       3.0},  // two products that nearly cancel each other
      {"Tversky",
       [](const auto& x, const auto& y) {
         const at::Tensor p = at::sigmoid(x), both = (p * y).sum();
         return 1.0 - both / (both + 0.3 * (p * (1.0 - y)).sum() + 0.7 * ((1.0 - p) * y).sum());
       }},
      {"hinge",
       [](const auto& x, const auto& y) { return at::relu(1.0 - (2.0 * y - 1.0) * x).mean(); }},
      {"squared hinge",
       [](const auto& x, const auto& y) {
         return at::relu(1.0 - (2.0 * y - 1.0) * x).pow(2.0).mean();
       }},
      {"log cosh by softplus",
       [](const auto& x, const auto& y) {
         const at::Tensor d = x - y;
         return (d + at::softplus(-2.0 * d)).mean();
       }},
  };
  return all;
}

/// That divide by squares, products and elu.
inline const std::vector<NamedLoss>& losses_of_squares() {
  static const std::vector<NamedLoss> all = {
      {"log of a square",
       [](const auto& x, const auto& y) { return at::log((x - y).pow(2.0) + 1e-6).mean(); }},
      {"log of a product with itself",
       [](const auto& x, const auto& y) {
         const at::Tensor d = x - y;
         return at::log(d * d + 1e-6).mean();
       }},
      {"log of a power",
       [](const auto& x, const auto& y) {
         const at::Tensor re = x - y, im = x * 0.5 + 0.1;
         return at::log(re * re + im.pow(2.0) + 1e-8).mean();
       }},
      {"Charbonnier",
       [](const auto& x, const auto& y) { return at::sqrt((x - y).pow(2.0) + 1e-6).mean(); }},
      {"Cauchy",
       [](const auto& x, const auto& y) { return at::log1p((x - y).pow(2.0) * 100.0).mean(); }},
      {"least of many squares",
       [](const auto& x, const auto& y) {
         const at::Tensor d = (x - 0.3 * y).unsqueeze(1) - at::sin(x).unsqueeze(0);
         return std::get<0>(d.pow(2.0).min(1)).mean();
       }},
      {"soft least of squares",
       [](const auto& x, const auto& y) {
         const at::Tensor d = (x - y).unsqueeze(-1) - at::linspace(-8.0, 8.0, 9);
         return -at::logsumexp(-2.0 * d.pow(2.0), -1).mean();
       }},
      {"masked squares",
       [](const auto& x, const auto& y) {
         const at::Tensor d = x * 100.0 * y + x * (1.0 - y);
         return (d.pow(2.0) * (1.0 - y)).mean();
       }},
      {"distance of few numbers",
       [](const auto& x, const auto& y) {
         return at::sqrt((x - y).pow(2.0).view({-1, 4}).sum(1) + 1e-8).mean();
       }},
      {"a product's logarithm",
       [](const auto& x, const auto& y) {
         return at::log(at::abs(x * at::sin(x + y)) + 1e-6).mean();
       }},
      {"log(elu + 1)",
       [](const auto& x, const auto& /*y*/) { return at::log(at::elu(x) + 1.0 + 1e-4).mean(); }},
      {"log(celu + 1)",
       [](const auto& x, const auto& /*y*/) { return at::log(at::celu(x) + 1.0 + 1e-4).mean(); }},
      {"Gaussian with elu deviation",
       [](const auto& x, const auto& y) {
         const at::Tensor deviation = at::elu(x) + 1.0 + 1e-3;
         return ((y - 0.3 * x) / deviation).pow(2.0).mean() + at::log(deviation).mean();
       }},
      {"Gaussian with log variance",
       [](const auto& x, const auto& y) {
         const at::Tensor d = y - at::sin(x);
         return (x + d.pow(2.0) * at::exp(-x)).mean();
       }},
  };
  return all;
}

/// That divide by probabilities.
inline const std::vector<NamedLoss>& losses_of_probabilities() {
  static const std::vector<NamedLoss> all = {
      {"-y log(softmax + eps)",
       [](const auto& x, const auto& y) {
         return -(y * at::log(at::softmax(x, 1) + 1e-8)).sum(1).mean();
       }},
      {"entropy of softmax",
       [](const auto& x, const auto& /*y*/) {
         const at::Tensor p = at::softmax(x, 1);
         return -(p * at::log(p + 1e-8)).sum(1).mean();
       }},
      {"Jensen and Shannon",
       [](const auto& x, const auto& y) {
         const at::Tensor p = at::softmax(x, 1), q = at::softmax(y * 2.0 - x * 0.5, 1);
         const at::Tensor m = 0.5 * (p + q);
         return 0.5 * (p * at::log(p / m + 1e-8) + q * at::log(q / m + 1e-8)).sum(1).mean();
       }},
      {"unlikelihood",
       [](const auto& x, const auto& y) {
         const at::Tensor rest = 1.0 - at::exp(at::log_softmax(x, 1));
         return -(y * at::log(at::clamp(rest, 1e-6))).sum(1).mean();
       }},
      {"perplexity of codes",
       [](const auto& x, const auto& /*y*/) {
         const at::Tensor p = at::softmax(x, 1).mean(0);
         return at::exp(-(p * at::log(p + 1e-10)).sum());
       },
       1.4},  // all that is left of nearly equal numbers
  };
  return all;
}

}  // namespace fewbit::test

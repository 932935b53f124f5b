#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/compression/recompute_network.hpp"
#include "tests/support/stored_as.hpp"

// One loss of an input [64, 256], and what becomes of what an operation keeps for it.
namespace fewbit::test {

using Forward = std::function<at::Tensor(const at::Tensor&)>;

inline const auto kDivided = IsExact(ExactReason::divided);

/// How the places of an operation are kept, and the gradient's relative error.
struct Outcome {
  std::vector<StoredAs> stored;
  double error;
  std::string report;
};

inline Outcome run(const Forward& forward, const std::string& operation, int steps = 1) {
  at::manual_seed(71);
  const at::Tensor x = at::randn({64, 256}).requires_grad_();
  const at::Tensor exact = torch::autograd::grad({forward(x * 1.0)}, {x})[0];
  Compressor compressor({.bits = 4});
  Outcome outcome{};
  for (int step = 0; step < steps; ++step) {
    at::Tensor y;
    {
      const CompressionScope scope(compressor);
      y = forward(x * 1.0);
    }
    outcome.error = distance(torch::autograd::grad({y}, {x})[0], exact);
  }
  for (const Compressor::Site& site : compressor.sites()) {
    if (site.operation == operation) outcome.stored.push_back(site.stored);
  }
  outcome.report = compressor.report();
  return outcome;
}

struct Case {
  const char* name;
  const char* operation;
  Forward forward;
};

}  // namespace fewbit::test

// Random small graphs in a scope against the same ones outside of it, and against the same ones
// with the few-bit operation written out: layouts and errors equal to torch's, values equal to
// tolerance, values and gradients equal to the operation's. FEWBIT_FUZZ_SECONDS says for how long,
// FEWBIT_FUZZ_SEED where to begin; a failure names its graph's seed.
#include <chrono>
#include <cstdlib>
#include <random>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "fewbit/fewbit.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::scope_fuzz_test {

struct Activation {
  at::Tensor (*torchs)(const at::Tensor&);
  at::Tensor& (*in_place)(at::Tensor&);
  const char* function;
  std::vector<double> parameters;
};

const Activation kActivations[] = {
    {[](const at::Tensor& x) { return at::gelu(x); },
     [](at::Tensor& x) -> at::Tensor& { return at::gelu_(x); },
     "gelu",
     {}},
    {at::silu, at::silu_, "silu", {1.0}},
    {at::mish, at::mish_, "mish", {}},
    {at::hardswish, at::hardswish_, "hardswish", {}},
    {at::selu, at::selu_, "selu", {}},
    {at::tanh, at::tanh_, "tanh", {}},
    {at::sigmoid, at::sigmoid_, "sigmoid", {}},
    {at::relu, at::relu_, "relu", {}},
    {at::hardsigmoid, at::hardsigmoid_, "hardsigmoid", {}},
    {[](const at::Tensor& x) { return at::leaky_relu(x, 0.2); },
     [](at::Tensor& x) -> at::Tensor& { return at::leaky_relu_(x, 0.2); },
     "leaky_relu",
     {0.2}},
    {[](const at::Tensor& x) { return at::celu(x, 1.5); },
     [](at::Tensor& x) -> at::Tensor& { return at::celu_(x, 1.5); },
     "celu",
     {1.5}},
    {at::log_sigmoid, nullptr, "logsigmoid", {}},
    {[](const at::Tensor& x) { return at::softplus(x); }, nullptr, "softplus", {1.0, 20.0}},
    {[](const at::Tensor& x) { return at::softshrink(x); }, nullptr, "softshrink", {0.5}},
};

enum class Run { torchs, scope, written_out };

constexpr int kBits = 2;

bool is_replaced(const at::Tensor& x) {
  return x.requires_grad() && at::GradMode::is_enabled();
}

at::Tensor apply(const Activation& activation, const at::Tensor& x, Run run) {
  if (run != Run::written_out || !is_replaced(x)) return activation.torchs(x);
  const std::string function = activation.function;
  const Table table = Table::standard(function, Bits{kBits}, activation.parameters);
  return fewbit::activation(function == "logsigmoid" ? x.contiguous() : x, table);
}

at::Tensor apply_in_place(const Activation& activation, at::Tensor x, Run run) {
  if (activation.in_place == nullptr) return apply(activation, x, run);
  if (run != Run::written_out || !is_replaced(x)) return activation.in_place(x);
  const at::Tensor y = apply(activation, x, run);
  // Zeros that go back to what x was would only change the order of sums.
  if (y.requires_grad() && !x.is_leaf() && !x.is_view()) x.detach_();
  return x.copy_(y);
}

/// The numbers of one step; all runs of a graph draw the same ones.
struct Step {
  uint64_t kind, one, other, number;
};

using Pool = std::vector<at::Tensor>;

int64_t dimension(const at::Tensor& x, uint64_t number) {
  return x.dim() == 0 ? 0 : static_cast<int64_t>(number) % x.dim();
}

at::Tensor view_of(const at::Tensor& x, const Step& step) {
  const int64_t dim = dimension(x, step.number), next = dimension(x, step.number / 7);
  const bool empty = x.numel() == 0;
  switch (step.other % 8) {
    case 0:
      return x.transpose(dim, next);
    case 1:
      return x.slice(dim, step.number % 2, std::nullopt, 1 + step.number % 3);
    case 2:
      return empty ? x : x.chunk(2, dim).back();
    case 3: {
      std::vector<int64_t> sizes(static_cast<size_t>(x.dim()) + 1, -1);
      sizes[static_cast<size_t>(dim)] = 2;
      return x.unsqueeze(dim).expand(sizes);
    }
    case 4:
      return x.view({-1});
    case 5:
      return x.dim() == 4 ? x.contiguous(at::MemoryFormat::ChannelsLast) : x.contiguous();
    case 6:
      return x.unfold(dim, 1, 1);
    default:
      return x.reshape({-1, 1});
  }
}

at::Tensor computed_of(const at::Tensor& x, const at::Tensor& y, const Step& step) {
  switch (step.other % 6) {
    case 0:
      return x + y;
    case 1:
      return x * 0.7;
    case 2:
      return x.sum(dimension(x, step.number));
    case 3:
      return at::binary_cross_entropy_with_logits(x, at::zeros_like(x));
    case 4:
      return x.to(step.number % 2 == 0 ? at::kBFloat16 : at::kFloat);
    default:
      return at::matmul(x, y);
  }
}

at::Tensor result_of(const Pool& pool, const Step& step, Run run) {
  const at::Tensor& x = pool[step.one % pool.size()];
  const Activation& activation = kActivations[step.number % std::size(kActivations)];
  switch (step.kind % 8) {
    case 0:
    case 1:
    case 2:
      return apply(activation, x, run);
    case 3:
      return apply_in_place(activation, x, run);
    case 4: {
      const at::NoGradGuard no_grad;
      return apply(activation, x, run);
    }
    case 5:
    case 6:
      return view_of(x, step);
    default:
      return computed_of(x, pool[step.other % pool.size()], step);
  }
}

/// What came out of a graph: everything that was made, a text for each step that threw, gradients.
struct Outcome {
  Pool pool;
  std::vector<std::string> errors;
  std::vector<at::Tensor> gradients;
};

Pool leaves(std::mt19937& random) {
  const std::vector<std::vector<int64_t>> shapes = {{2, 4, 3, 3}, {5, 6}, {3, 1, 4}, {8}, {}};
  Pool pool;
  for (int i = 0; i < 2; ++i) {
    at::Tensor x = at::randn(shapes[random() % shapes.size()]) * 2;
    if (random() % 3 == 0) x = x.to(at::kBFloat16);
    if (x.dim() == 4 && random() % 2 == 0) x = x.contiguous(at::MemoryFormat::ChannelsLast);
    pool.push_back(x);
  }
  return pool;
}

void run_steps(Outcome& outcome, const std::vector<Step>& steps, Run run) {
  std::optional<ActivationScope> scope;
  if (run == Run::scope) {
    scope.emplace(ActivationScopeOptions{.bits = kBits});
    for (const char* function : {"relu", "sigmoid", "tanh", "softplus", "logsigmoid", "celu"}) {
      scope->rule(function, Bits{kBits});
    }
  }
  for (const Step& step : steps) {
    std::string error = test::refusal([&] {
      at::Tensor y = result_of(outcome.pool, step, run);
      if (y.numel() < 10000) outcome.pool.push_back(y);
    });
    outcome.errors.push_back(std::move(error));
  }
}

Outcome outcome_of(const Pool& inputs, const std::vector<Step>& steps, Run run) {
  Outcome outcome;
  Pool own;
  for (const at::Tensor& x : inputs) own.push_back(x.clone().requires_grad_());
  outcome.pool = own;
  run_steps(outcome, steps, run);
  outcome.errors.push_back(test::refusal([&] {
    at::Tensor loss = at::zeros({});
    for (const at::Tensor& y : outcome.pool) loss = loss + y.to(at::kFloat).sum();
    loss.backward();
  }));
  for (const at::Tensor& x : own) outcome.gradients.push_back(x.grad());
  // Some views may not be looked at any more with their history.
  for (at::Tensor& y : outcome.pool) y = y.tensor_data();
  return outcome;
}

bool are_equal(const at::Tensor& one, const at::Tensor& other) {
  if (!one.defined() || !other.defined()) return one.defined() == other.defined();
  return one.scalar_type() == other.scalar_type() && one.strides() == other.strides() &&
         at::allclose(one, other, 0.0, 0.0, true);
}

bool is_near(const at::Tensor& one, const at::Tensor& other) {
  const double tolerance = one.scalar_type() == at::kBFloat16 ? 0.15 : 1e-3;
  return one.scalar_type() == other.scalar_type() && one.strides() == other.strides() &&
         at::allclose(one.to(at::kDouble), other.to(at::kDouble), tolerance, tolerance, true);
}

/// Outside, a change in place may spoil what an activation kept; in a scope it keeps codes.
bool agree(const std::string& inside, const std::string& outside) {
  const std::string spoilt = "has been modified by an inplace operation";
  if (outside.find(spoilt) == std::string::npos) {
    return (inside == "accepted") == (outside == "accepted");
  }
  return inside == "accepted" || inside.find(spoilt) != std::string::npos;
}

void check_graph(uint32_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  at::manual_seed(seed);
  const Pool inputs = leaves(random);
  std::vector<Step> steps(3 + random() % 8);
  for (Step& step : steps) {
    step.kind = random();
    step.one = random();
    step.other = random();
    step.number = random();
  }
  const Outcome exact = outcome_of(inputs, steps, Run::torchs);
  const Outcome inside = outcome_of(inputs, steps, Run::scope);
  const Outcome written = outcome_of(inputs, steps, Run::written_out);
  for (size_t i = 0; i < exact.errors.size(); ++i) {
    ASSERT_TRUE(agree(inside.errors[i], exact.errors[i]))
        << "step " << i << ": " << inside.errors[i] << "\noutside: " << exact.errors[i];
  }
  ASSERT_EQ(inside.pool.size(), exact.pool.size());
  for (size_t i = 0; i < exact.pool.size(); ++i) {
    EXPECT_TRUE(is_near(inside.pool[i], exact.pool[i]))
        << i << ": " << inside.pool[i].sizes() << " strides " << inside.pool[i].strides()
        << ", outside " << exact.pool[i].strides();
    EXPECT_TRUE(are_equal(inside.pool[i], written.pool[i])) << i;
  }
  for (size_t i = 0; i < inside.gradients.size(); ++i) {
    EXPECT_TRUE(are_equal(inside.gradients[i], written.gradients[i])) << i;
  }
}

uint32_t number_in_environment(const char* name, uint32_t usual) {
  const char* text = std::getenv(name);
  return text == nullptr ? usual : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

TEST(ScopeFuzz, RandomGraphsAreTorchsWithTheTablesGradients) {
  const std::chrono::seconds limit(number_in_environment("FEWBIT_FUZZ_SECONDS", 15));
  const auto end = std::chrono::steady_clock::now() + limit;
  uint32_t seed = number_in_environment("FEWBIT_FUZZ_SEED", 1);
  int graphs = 0;
  for (; std::chrono::steady_clock::now() < end && !HasFailure(); ++graphs) check_graph(seed++);
  RecordProperty("graphs", graphs);
  EXPECT_GT(graphs, 0);
}

}  // namespace fewbit::scope_fuzz_test

#include <gtest/gtest.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/frontend/sugared_value.h>

#include "tests/ops/support.hpp"

namespace fewbit::torchscript_test {

/// Knows `fewbit.NAME` as the operation fewbit::NAME, as torch.ops.fewbit.NAME is in Python.
class Operations : public torch::jit::NativeResolver {
 public:
  std::shared_ptr<torch::jit::SugaredValue> resolveValue(
      const std::string& name, torch::jit::GraphFunction& function,
      const torch::jit::SourceRange& place) override {
    if (name == "fewbit") return std::make_shared<torch::jit::BuiltinModule>(name);
    return NativeResolver::resolveValue(name, function, place);
  }
};

std::shared_ptr<torch::jit::CompilationUnit> compile(const std::string& source) {
  const auto unit = std::make_shared<torch::jit::CompilationUnit>();
  unit->define(std::nullopt, source, std::make_shared<Operations>(), nullptr);
  return unit;
}

TEST(TorchScript, CallsTheOperationWithATablesNumbers) {
  const Table table = Table::standard("silu", Bits{3});
  const auto unit = compile(R"(
def call(x, thresholds: List[float], codes: List[int], levels: List[float]):
    return fewbit.activation(x, "silu", [1.0], thresholds, codes, levels)
)");
  at::Tensor expected = at::randn({500}).requires_grad_();
  silu(expected, Bits{3}).sum().backward();
  for (int run = 0; run < 4; ++run) {  // the first profiles, later ones are optimised
    at::Tensor x = expected.detach().clone().requires_grad_();
    const Table::Steps& steps = table.steps(at::kFloat);
    const at::Tensor y =
        unit->run_method("call", x, steps.thresholds, steps.codes, steps.levels).toTensor();
    y.sum().backward();
    EXPECT_TRUE(at::equal(x.grad(), expected.grad())) << run;
  }
}

TEST(TorchScript, CallsTheOperationWithATablesName) {
  const auto unit = compile(R"(
def call(x):
    return fewbit.activation(x * 2.0, "gelu", "levels_normal_b2")
)");
  const at::Tensor input = at::randn({500});
  at::Tensor expected = input.clone().requires_grad_();
  activation(expected * 2.0, Table::builtin("gelu", "levels_normal_b2")).sum().backward();
  for (int run = 0; run < 4; ++run) {
    at::Tensor x = input.clone().requires_grad_();
    unit->run_method("call", x).toTensor().sum().backward();
    EXPECT_TRUE(at::equal(x.grad(), expected.grad())) << run;
  }
}

}  // namespace fewbit::torchscript_test

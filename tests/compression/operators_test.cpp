#include <algorithm>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <fewbit/fewbit.hpp>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "compression/operators/consumer.hpp"
#include "compression/operators/operator.hpp"

namespace fewbit::operators_test {

namespace {

using namespace session;

/// Names of the arguments of all overloads.
std::vector<std::vector<std::string>> schemas_of(const Operator& one) {
  const std::string name = std::string(one.library) + "::" + std::string(one.name);
  std::vector<std::vector<std::string>> schemas;
  for (const c10::OperatorName& known : c10::Dispatcher::singleton().getAllOpNames()) {
    if (known.name != name) continue;
    std::vector<std::string>& names = schemas.emplace_back();
    const auto handle = c10::Dispatcher::singleton().findSchemaOrThrow(known.name.c_str(),
                                                                       known.overload_name.c_str());
    for (const c10::Argument& argument : handle.schema().arguments()) {
      names.push_back(argument.name());
    }
  }
  return schemas;
}

TEST(Operators, HaveTheArgumentsOfLibtorchsSchemas) {
  int compared = 0;
  for (const Operator* one : all_operators()) {
    if (one->arguments.empty()) continue;
    const auto schemas = schemas_of(*one);
    if (schemas.empty()) {  // of another build of libtorch
      EXPECT_TRUE(one->name == "cudnn_batch_norm" || one->name == "miopen_batch_norm") << one->name;
      continue;
    }
    const bool is_one = std::ranges::any_of(schemas, [&](const auto& names) {
      return names.size() >= one->arguments.size() &&
             std::equal(one->arguments.begin(), one->arguments.end(), names.begin());
    });
    EXPECT_TRUE(is_one) << one->name;
    ++compared;
  }
  EXPECT_GT(compared, 30);
}

TEST(Operators, AreFoundByTheirNames) {
  EXPECT_NE(find_operator("aten::mul"), nullptr);
  EXPECT_EQ(find_operator("aten::mul"), find_operator("aten::mul_"));
  EXPECT_EQ(find_operator("mine::mul"), nullptr);
  EXPECT_EQ(find_operator_like("mine::mul"), find_operator("aten::mul"));
  EXPECT_EQ(find_operator("aten::log_softmax"), nullptr);
  EXPECT_EQ(find_operator_like("aten::log_softmax"), find_operator(kLogSoftmax));
  EXPECT_EQ(find_operator("aten::nothing_of_the_kind"), nullptr);
  EXPECT_EQ(find_operator(""), nullptr);
}

TEST(Operators, NameNoArgumentThatTheyDoNotHave) {
  const std::vector<c10::IValue> values = {at::ones({2}), at::ones({2})};
  const NamedArguments arguments(*find_operator("aten::mul"), values);
  EXPECT_TRUE(arguments.fit());
  EXPECT_EQ(arguments.tensor("other").data_ptr(), values[1].toTensor().data_ptr());
  EXPECT_THROW(arguments["exponent"], c10::Error);
}

// A family of one's own: y = x * weight, in an operation of its own library.

at::Tensor scaled(const at::Tensor& x, const at::Tensor& weight) {
  static const auto call = c10::Dispatcher::singleton()
                               .findSchemaOrThrow("operators_test::scaled", "")
                               .typed<at::Tensor(const at::Tensor&, const at::Tensor&)>();
  return call.call(x, weight);
}

class Scaled : public torch::autograd::Function<Scaled> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            const at::Tensor& weight) {
    context->save_for_backward({x, weight});
    return x * weight;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& dy) {
    const auto saved = context->get_saved_variables();
    return {dy[0] * saved[1], (dy[0] * saved[0]).sum(0)};
  }
};

TORCH_LIBRARY(operators_test, m) {
  m.def("scaled(Tensor x, Tensor weight) -> Tensor");
}
TORCH_LIBRARY_IMPL(operators_test, Autograd, m) {
  m.impl("scaled",
         [](const at::Tensor& x, const at::Tensor& weight) { return Scaled::apply(x, weight); });
}

std::optional<Recipe> scaled_again(const EndedCall& call) {
  Recipe recipe{kLinear, call.arguments.tensor("x"), nullptr};
  recipe.by_weight = [](const at::Tensor& x, const at::Tensor& weight) { return x * weight; };
  return recipe;
}

// All that a new family takes.
const OperatorFamily kFamily = {{.name = "scaled",
                                 .library = "operators_test",
                                 .arguments = {"x", "weight"},
                                 .saves = {{"x", {StorageKind::rotated, 1.0}}},
                                 .recomputation = {scaled_again, {}, "weight"},
                                 .effect = Effect::sums}};

TEST(Operators, OfANewFamilyAreCodedAndRecomputed) {
  const at::Tensor x = at::randn({64, 256}).requires_grad_(),
                   weight = at::rand({256}).add_(1.0).requires_grad_();
  const auto gradient = [&](Compressor* compressor) {
    at::Tensor loss;
    {
      std::optional<CompressionScope> scope;
      if (compressor != nullptr) scope.emplace(*compressor);
      loss = scaled(scaled(x * 1.0, weight), weight).square().sum();
    }
    return torch::autograd::grad({loss}, {weight})[0];
  };
  const at::Tensor exact = gradient(nullptr);
  Compressor compressor({.bits = 8});
  torch::OrderedDict<std::string, at::Tensor> parameters;
  parameters.insert("weight", weight);
  compressor.name(parameters);
  compressor.recompute("linear", Recompute::always);
  const at::Tensor coded = gradient(&compressor);
  EXPECT_LT((coded - exact).norm().item<double>(), 0.02 * exact.norm().item<double>());
  EXPECT_GT((coded - exact).norm().item<double>(), 0.0);
  int codes = 0, recomputed = 0;
  for (const Compressor::Site& site : compressor.sites()) {
    if (site.operation != "operators_test::scaled") continue;
    codes += site.stored.storage == Storage::coded ? 1 : 0;
    recomputed += site.stored.storage == Storage::recomputed ? 1 : 0;
  }
  EXPECT_EQ(codes, 1) << compressor.report();
  EXPECT_EQ(recomputed, 1) << compressor.report();
}

}  // namespace

}  // namespace fewbit::operators_test

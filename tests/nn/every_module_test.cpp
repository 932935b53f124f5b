// What holds for every module that the registry makes, by the list that was generated with them.

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/serialize.h>

#include "fewbit/nn/modules.hpp"

namespace fewbit::every_module_test {

template <class Options>
struct Option {
  std::string name;
  void (*set)(Options& options, double value);
  double (*get)(const Options& options);
};

template <class Options>
std::vector<Option<Options>>& options_of() {
  static std::vector<Option<Options>> options;
  return options;
}

#define FEWBIT_OPTION(Module, name)                                                               \
  [[maybe_unused]] const bool is_known_##Module##_##name = [] {                                   \
    using Options = nn::Module##Options;                                                          \
    options_of<Options>().push_back({#name,                                                       \
                                     [](Options& options, double value) { options.name(value); }, \
                                     [](const Options& options) { return options.name(); }});     \
    return true;                                                                                  \
  }();
#include "generated/torch.inc"

/// libtorch's own, by the registry's name and with the registry's defaults.
const std::map<std::string, at::Tensor (*)(const at::Tensor&)> kWritten = {
#define FEWBIT_WRITTEN(function, text) {#function, [](const at::Tensor& x) { return text; }},
#include "generated/torch.inc"
};

template <class Options>
Options defaults() {
  if constexpr (std::is_default_constructible_v<Options>) {
    return {};
  } else {
    return Options(0.0, 0.0);
  }
}

/// Options that differ from the defaults.
template <class Options>
Options others() {
  Options options = defaults<Options>();
  for (const Option<Options>& option : options_of<Options>()) {
    const double before = option.get(options);
    option.set(options, before == 0.0 ? 0.25 : 0.5 * before);
  }
  return options;
}

template <class Options>
std::vector<double> values_of(const Options& options) {
  std::vector<double> values;
  for (const auto& [name, value] : options.parameters()) values.push_back(value);
  return values;
}

template <class Options>
class EveryModule : public testing::Test {
 protected:
  using Impl = nn::ActivationImpl<Options>;
};

struct Names {
  template <class Options>
  static std::string GetName(int /*index*/) {
    return Options::kName;
  }
};

/// For a list whose items all begin with a comma.
struct Begin {};
template <class List>
struct AfterBegin;
template <class... Options>
struct AfterBegin<std::tuple<Begin, Options...>> {
  using Types = testing::Types<Options...>;
};

#define FEWBIT_MODULE(Name) , nn::Name##Options
using Modules = AfterBegin<std::tuple<Begin
#include "generated/torch.inc"
                                      >>::Types;

TYPED_TEST_SUITE(EveryModule, Modules, Names);

TYPED_TEST(EveryModule, TakesItsOptionsAndPrintsThem) {
  TypeParam options = others<TypeParam>();
  options.bits(2);
  const typename TestFixture::Impl module(options);
  const Table table = Table::standard(options.function(), Bits{2}, values_of(options));
  EXPECT_EQ(module.table().name(), table.name());
  std::ostringstream expected;
  expected << "fewbit::nn::" << TypeParam::kName << '(';
  for (const auto& option : options_of<TypeParam>()) {
    expected << option.name << '=' << option.get(options) << ", ";
  }
  expected << "bits=" << table.bits() << ", table=" << table.name() << ')';
  std::ostringstream printed;
  module.pretty_print(printed);
  EXPECT_EQ(printed.str(), expected.str());
}

TYPED_TEST(EveryModule, ClonesWithItsOptionsAndItsTable) {
  typename TestFixture::Impl module(others<TypeParam>().bits(3));
  const Table other =
      Table::standard(module.options.function(), Bits{2}, values_of(module.options));
  module.set_table(other);
  const auto copy = std::dynamic_pointer_cast<typename TestFixture::Impl>(module.clone());
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->table().name(), other.name());
  EXPECT_EQ(copy->options.parameters(), module.options.parameters());
}

TYPED_TEST(EveryModule, AddsNothingToWhatAModelSaves) {
  const auto model = [] {
    return torch::nn::Sequential(
        torch::nn::Linear(4, 8),
        std::make_shared<typename TestFixture::Impl>(defaults<TypeParam>().bits(2)),
        torch::nn::Linear(8, 2));
  };
  torch::nn::Sequential first = model();
  EXPECT_EQ(first->named_parameters().keys(),
            (std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias"}));
  EXPECT_TRUE(first->buffers().empty());
  std::stringstream file;
  torch::save(first, file);
  torch::nn::Sequential second = model();
  torch::load(second, file);
  const at::Tensor x = at::randn({3, 4});
  EXPECT_TRUE(at::equal(first->forward(x), second->forward(x)));
}

TYPED_TEST(EveryModule, ComputesWhatLibtorchsUsersWrite) {
  TypeParam options = defaults<TypeParam>();
  typename TestFixture::Impl module(options.bits(4));
  const auto written = kWritten.find(options.function());
  ASSERT_NE(written, kWritten.end()) << "the registry does not say what libtorch's users write";
  at::manual_seed(5);
  const at::Tensor x = at::randn({4000}).requires_grad_();
  const at::Tensor exact = x.detach().clone().requires_grad_();
  const at::Tensor y = module.forward(x);
  const at::Tensor y_exact = written->second(exact);
  EXPECT_TRUE(at::allclose(y, y_exact, 2e-6, 2e-6));
  y.sum().backward();
  y_exact.sum().backward();
  const double square = (x.grad() - exact.grad()).square().mean().template item<double>();
  EXPECT_LE(square, 1.3 * module.table().data().error);
}

}  // namespace fewbit::every_module_test

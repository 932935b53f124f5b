// A function of the user's own, generated in the build, as function, module and operation.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <set>
#include <sstream>

#include <ATen/ATen.h>
#include <fewbit/fewbit.hpp>
#include <fewbit/my_act.hpp>
#include <fewbit/nn/clipped_relu.hpp>
#include <fewbit/nn/clipped_silu.hpp>
#include <fewbit/nn/dip.hpp>
#include <fewbit/nn/my_act.hpp>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>

namespace {

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::cerr << "FAILED: " << what << '\n';
  std::exit(1);
}

at::Tensor inputs(at::ScalarType type) {
  const at::Tensor far = at::tensor({-INFINITY, -1e30F, -0.0F, 1e30F, INFINITY});
  return at::cat({at::linspace(-9, 9, 20011), far}).to(type);
}

/// The level of every element, by the definition of a table.
at::Tensor step_function(const fewbit::Table& table, const at::Tensor& x) {
  const at::Tensor at = x.to(at::kDouble);
  at::Tensor result = at::empty_like(at);
  const auto& thresholds = table.data().thresholds;
  for (std::int64_t i = 0; i < at.numel(); ++i) {
    const double value = table.is_even() ? std::fabs(at[i].item<double>()) : at[i].item<double>();
    const auto below = std::count_if(thresholds.begin(), thresholds.end(),
                                     [value](double threshold) { return value > threshold; });
    result[i] = table.data().levels[table.data().interval_codes[static_cast<std::size_t>(below)]];
  }
  return result;
}

/// Values are those of x sigmoid(1.7 x); gradients those of the step function, to the bit.
void check_type(at::ScalarType type, int bits) {
  const std::string what = std::string(c10::toString(type)) + ", " + std::to_string(bits) + " bits";
  const at::Tensor x = inputs(type).requires_grad_();
  const at::Tensor dy = at::randn_like(x.detach());
  const at::Tensor y = fewbit::my_act(x, fewbit::Bits{bits});
  expect(y.scalar_type() == type, what + ": the type is kept");

  const at::Tensor wide = x.detach().to(at::kDouble);
  const at::Tensor exact = at::where(wide == -INFINITY, 0.0, wide * at::sigmoid(1.7 * wide));
  const bool is_half = x.element_size() == 2;
  const double near = type == at::kDouble ? 1e-12 : is_half ? 0x1p-8 : 0x1p-22;
  expect(at::allclose(y.to(at::kDouble), exact.to(type).to(at::kDouble), near, near),
         what + ": values");

  y.backward(dy);
  const fewbit::Table table = fewbit::Table::standard("my_act", fewbit::Bits{bits});
  expect(table.bits() == bits, what + ": bits of the table");
  const at::Tensor levels = step_function(table, x.detach());
  // Products of 16-bit types are those of float, rounded once.
  const at::ScalarType work = type == at::kDouble ? at::kDouble : at::kFloat;
  expect(at::equal(x.grad(), (levels.to(work) * dy.to(work)).to(type)), what + ": gradients");
}

/// Far out too it is the function.
void check_clipped() {
  const at::Tensor x = at::tensor({-1e30, -150.0, -1.0, 0.0, 60.0, 99.0, 100.0, 150.0, 6e4});
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble}) {
    const at::Tensor narrow = x.to(type);
    const at::Tensor wide = narrow.to(at::kDouble);
    const at::Tensor relu = wide.clamp(0, 100);
    const at::Tensor silu = at::where(wide < -1e3, 0.0, wide * at::sigmoid(wide)).clamp_max(100);
    const std::string what = std::string(" clipped: values of ") + c10::toString(type);
    expect(at::equal(fewbit::clipped_relu(narrow, fewbit::Bits{1}), relu.to(type)), "relu" + what);
    const at::Tensor found = fewbit::clipped_silu(narrow, fewbit::Bits{3});
    expect(at::allclose(found.to(at::kDouble), silu.to(type).to(at::kDouble), 1e-6, 1e-6),
           "silu" + what);
  }
}

/// The header without torch, made of the same table, gives the same gradients.
void check_header() {
  namespace header = fewbit_my_act_b3;
  const at::Tensor x = inputs(at::kFloat).requires_grad_();
  fewbit::my_act(x, fewbit::Bits{3}).sum().backward();
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const float level = header::decode(header::encode(x[i].item<float>()));
    expect(x.grad()[i].item<float>() == level, "gradients are the header's");
  }
}

void check_module() {
  fewbit::nn::MyAct act;
  std::ostringstream text;
  text << act;
  expect(text.str() == "fewbit::nn::MyAct(bits=3, table=smoothed_normal_b3)", text.str());
  fewbit::nn::MyAct coarse(fewbit::nn::MyActOptions().bits(1));
  expect(coarse->table().bits() == 1, "the option bits");
  bool is_refused = false;
  try {
    act->set_table(fewbit::Table::standard("gelu", fewbit::Bits{3}));
  } catch (const c10::Error&) {
    is_refused = true;
  }
  expect(is_refused, "a table of another function is refused");
}

/// The operations know the function by its name.
void check_operation() {
  const at::Tensor x = inputs(at::kFloat);
  const auto operation =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow("fewbit::activation_value", "")
          .typed<at::Tensor(const at::Tensor&, c10::string_view, at::ArrayRef<double>)>();
  expect(at::equal(operation.call(x, "my_act", {}), fewbit::my_act(x, fewbit::Bits{3})),
         "the operation");
}

/// Gradients are levels, drawn so that their mean is the derivative.
void check_unbiased() {
  const at::Tensor x = at::full({100000}, 0.7).requires_grad_();
  const auto gradient = [&x] {
    at::manual_seed(3);
    x.mutable_grad() = at::Tensor();
    fewbit::dip(x, fewbit::Bits{2}).sum().backward();
    return x.grad().clone();
  };
  const at::Tensor drawn = gradient();
  expect(at::equal(gradient(), drawn), "the same seed draws the same");
  std::set<float> seen;
  for (std::int64_t i = 0; i < drawn.numel(); ++i) seen.insert(drawn[i].item<float>());
  const auto& levels = fewbit::Table::standard("dip", fewbit::Bits{2}).data().levels;
  expect(seen.size() == 2 && std::includes(levels.begin(), levels.end(), seen.begin(), seen.end()),
         "two levels enclose the derivative");
  const double exact = std::tanh(0.7) + 0.7 / std::pow(std::cosh(0.7), 2);
  const double error = drawn.mean().item<double>() - exact;
  expect(std::fabs(error) < 4.0 * drawn.std().item<double>() / std::sqrt(1e5), "no bias");
}

/// A small network learns with it, and the calibrator fits it.
void check_training() {
  at::manual_seed(7);
  torch::nn::Sequential model(torch::nn::Linear(2, 32), fewbit::nn::MyAct(),
                              torch::nn::Linear(32, 1));
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  const at::Tensor x = at::randn({512, 2});
  const at::Tensor wanted = x.prod(1, /*keepdim=*/true);
  double loss = 0.0;
  double first = 0.0;
  fewbit::Calibrator calibrator(*model);
  for (int step = 0; step < 400; ++step) {
    optimizer.zero_grad();
    const at::Tensor error = (model->forward(x) - wanted).square().mean();
    error.backward();
    optimizer.step();
    loss = error.item<double>();
    if (step == 0) first = loss;
    if (step == 20) {
      const auto& fit = calibrator.fit().at(0);
      std::cout << calibrator.report();
      expect(fit.note.empty() && fit.bias_after < fit.bias_before, "the calibrator fits");
    }
  }
  std::cout << "loss " << first << " -> " << loss << '\n';
  expect(loss < 0.05 * first, "training lowers the loss");
}

}  // namespace

int main() {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble}) {
    for (const int bits : {3, 2}) check_type(type, bits);  // 2: solved now
  }
  check_clipped();
  check_header();
  check_module();
  check_operation();
  check_unbiased();
  check_training();
  std::cout << "own_activation: holds\n";
}

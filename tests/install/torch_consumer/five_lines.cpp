// The lines that the README shows, and that each of them keeps what it says.
#include <cstdint>
#include <cstdlib>
#include <iostream>

#include <fewbit/fewbit.hpp>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::cerr << "FAILED: " << what << '\n';
  std::exit(1);
}

}  // namespace

int main() {
  at::manual_seed(1);
  // What another layer made: the meter counts a leaf among the parameters.
  const at::Tensor x = at::randn({64, 100}).requires_grad_().mul(1.5);
  torch::nn::Sequential model(torch::nn::Linear(100, 256), torch::nn::GELU());
  at::Tensor loss;

  auto y = fewbit::gelu(x, fewbit::Bits{3});
  expect(at::allclose(y, at::gelu(x), 1e-5, 1e-6), "the function computes gelu");
  fewbit::nn::GELU act(fewbit::nn::GELUOptions().bits(3));
  expect(at::equal(act(x), y), "the module computes what the function does");
  {
    fewbit::ActivationScope scope({.bits = 3});
    loss = model->forward(x).sum();
    expect(scope.entries().size() == 1 && scope.entries()[0].replaced, "the scope replaces GELU");
  }
  loss.backward();

  const auto kept = [&](auto&& forward) {
    fewbit::SavedBytes meter;
    {
      auto watch = meter.watch();
      y = forward(x);
    }
    std::cout << meter.unique_bytes() << '\n' << meter.explain();
    return meter.unique_bytes();
  };
  const std::int64_t few = kept([&](const at::Tensor& input) { return act(input); });
  const std::int64_t all = kept([](const at::Tensor& input) { return at::gelu(input); });
  expect(few == 64 * 100 * 3 / 8, "three bits an element are kept");
  expect(all == 64 * 100 * 4, "torch keeps the input");
  std::cout << "five_lines: holds\n";
}

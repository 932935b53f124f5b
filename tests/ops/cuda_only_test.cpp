// Of the operations on CUDA tensors what is CUDA's alone: graphs, and kernels for functions of
// one's own.
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <fewbit/nn/own_act.hpp>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "kernels/activation/activation.hpp"
#include "kernels/activation/cuda/activation.hpp"
#include "tests/ops/support.hpp"
#include "tests/support/cuda_test.hpp"

namespace fewbit::cuda_only_test {

using test::forward;

class CudaOnly : public test::CudaTest {};

// Needs no device.
TEST(CudaKernels, ExistForEveryFunctionOfTheCpu) {
  EXPECT_TRUE(ops::runs_on(at::kCUDA));
  const auto expect_same = [](const kernels::Activation& cpu) {
    const kernels::cuda::Activation* cuda = kernels::cuda::find_activation(cpu.name);
    ASSERT_NE(cuda, nullptr) << cpu.name;
    ASSERT_EQ(cuda->parameter_count, cpu.parameter_count) << cpu.name;
    for (int i = 0; i < cpu.parameter_count; ++i) {
      EXPECT_EQ(cuda->default_parameters[i], cpu.default_parameters[i]) << cpu.name;
    }
  };
  for (const kernels::Activation& activation : kernels::activations()) expect_same(activation);
  expect_same(*kernels::find_activation("own_act"));
}

TEST_F(CudaOnly, OfAFunctionOfOnesOwnIsThatOfTheCpu) {
  const at::Tensor x = at::randn({5000}) * 2;
  const Table table = Table::standard("own_act", Bits{2});
  const auto [y, codes] = forward(x.to(at::kCUDA), table);
  const auto [y_cpu, codes_cpu] = forward(x, table);
  EXPECT_TRUE(at::equal(codes.cpu(), codes_cpu));
  EXPECT_TRUE(at::allclose(y.cpu(), y_cpu, 1e-6, 1e-6, true));
}

TEST_F(CudaOnly, CanBeCapturedIntoAGraph) {
  const Table table = Table::standard("gelu", Bits{3});
  at::Tensor x = at::randn({70001}, at::kCUDA);
  at::cuda::CUDAGraph graph;
  at::Tensor y, codes, dx;
  const auto run = [&] {
    std::tie(y, codes) = forward(x, table);
    dx = test::backward(y, codes, table);
  };
  const auto stream = c10::cuda::getStreamFromPool();
  run();  // loads the kernels
  c10::cuda::device_synchronize();
  {
    const c10::cuda::CUDAStreamGuard guard(stream);
    graph.capture_begin();
    run();
    graph.capture_end();
  }
  for (int i = 0; i < 3; ++i) {
    x.copy_(at::randn({70001}, at::kCUDA));
    c10::cuda::device_synchronize();
    graph.replay();
    c10::cuda::device_synchronize();
    const auto [y_now, codes_now] = forward(x, table);
    EXPECT_TRUE(at::equal(y, y_now));
    EXPECT_TRUE(at::equal(codes, codes_now));
    EXPECT_TRUE(at::equal(dx, test::backward(y_now, codes_now, table)));
  }
}

TEST_F(CudaOnly, OfTheUnbiasedFormDrawsAnewAtEveryReplay) {
  const Table table = Table::builtin("gelu", "unbiased_normal_b2");
  const at::Tensor x = at::randn({70001}, at::kCUDA).requires_grad_();
  const at::Tensor ones = at::ones_like(x);
  at::cuda::CUDAGraph graph;
  at::Tensor dx;
  const auto run = [&] { dx = torch::autograd::grad({activation(x, table)}, {x}, {ones})[0]; };
  const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
  run();  // loads the kernels
  c10::cuda::device_synchronize();
  graph.capture_begin();
  run();
  graph.capture_end();
  const auto replay = [&] {
    graph.replay();
    c10::cuda::device_synchronize();
    return dx.clone();
  };
  const at::Tensor first = replay();
  EXPECT_FALSE(at::equal(first, replay()));
}

}  // namespace fewbit::cuda_only_test

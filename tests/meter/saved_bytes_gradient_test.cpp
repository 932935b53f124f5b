// A metered forward is followed by the very same backward.
#include <functional>
#include <thread>

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/functional/activation.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/modules/pooling.h>
#include <torch/nn/modules/transformerlayer.h>

#include "fewbit/saved_bytes.hpp"

namespace saved_bytes_gradient_test {

namespace nn = torch::nn;
using fewbit::SavedBytes;
using torch::autograd::variable_list;

// Gradients of the sum of squares of the result, with and without a meter, from the same seed.
void expect_equal_gradients(const variable_list& leaves,
                            const std::function<at::Tensor()>& forward) {
  const auto gradients = [&](bool metered) {
    at::manual_seed(7);
    SavedBytes meter;
    at::Tensor result;
    if (metered) {
      const auto watch = meter.watch();
      result = forward();
      EXPECT_FALSE(meter.entries().empty());
    } else {
      result = forward();
    }
    return torch::autograd::grad({result.square().sum()}, leaves);
  };
  const variable_list plain = gradients(false), metered = gradients(true);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    EXPECT_TRUE(at::equal(plain[i], metered[i])) << "leaf " << i;
  }
}

TEST(SavedBytesGradient, IsTheSameForAnImageNetwork) {
  nn::Sequential model(nn::Conv2d(nn::Conv2dOptions(3, 8, 3)), nn::GELU(),
                       nn::MaxPool2d(nn::MaxPool2dOptions(2)), nn::Flatten(), nn::Linear(72, 16),
                       nn::SiLU(), nn::LayerNorm(nn::LayerNormOptions({16})), nn::Linear(16, 4),
                       nn::Softmax(nn::SoftmaxOptions(-1)));
  const at::Tensor data = at::randn({5, 3, 8, 8});
  expect_equal_gradients(model->parameters(), [&] { return model->forward(data); });
}

TEST(SavedBytesGradient, IsTheSameForATransformerLayerWithDropout) {
  nn::TransformerEncoderLayer layer(
      nn::TransformerEncoderLayerOptions(16, 2).dim_feedforward(32).activation(torch::kGELU));
  const at::Tensor data = at::randn({10, 4, 16});
  expect_equal_gradients(layer->parameters(), [&] { return layer(data); });
}

TEST(SavedBytesGradient, IsTheSameForViewsAndChangesInPlace) {
  const at::Tensor leaf = at::randn({6, 8}).requires_grad_(true);
  expect_equal_gradients({leaf}, [&] {
    const at::Tensor x = leaf * 2;
    x.relu_();  // keeps its own output
    const at::Tensor z = x + 1;
    z.narrow(0, 1, 2).sigmoid_();  // through a view
    return at::tanh(z.t()) + z.view({8, 6}).exp();
  });
}

TEST(SavedBytesGradient, IsTheSameForSecondDerivatives) {
  const at::Tensor leaf = at::randn({6, 8}).requires_grad_(true);
  expect_equal_gradients({leaf}, [&] {
    const at::Tensor y = at::gelu(leaf).sigmoid().sum();
    return torch::autograd::grad({y}, {leaf}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
  });
}

TEST(SavedBytesGradient, AccumulatesIntoTheLeafItWasTakenFrom) {
  nn::Linear linear(4, 4);
  SavedBytes meter;
  at::Tensor y;
  {
    const auto watch = meter.watch();
    y = linear(linear(at::ones({2, 4}))).sum();
  }
  std::thread([&] { y.backward(); }).join();
  EXPECT_TRUE(linear->weight.grad().defined());
  EXPECT_TRUE(linear->bias.grad().defined());
  EXPECT_THROW(y.backward(), c10::Error) << "what was saved is gone";
}

// Autograd checks this itself only for tensors without hooks.
TEST(SavedBytesGradient, RefusesTensorsThatWereChangedInPlace) {
  const at::Tensor leaf = at::randn({6, 8}).requires_grad_(true);
  for (const bool output : {false, true}) {
    SavedBytes meter;
    at::Tensor x, y;
    {
      const auto watch = meter.watch();
      x = leaf * 2;
      y = output ? at::sigmoid(x) : at::gelu(x);
    }
    const at::Tensor result = y.sum();
    (output ? y : x).detach().add_(1);
    try {
      result.backward();
      ADD_FAILURE() << "a changed tensor was used";
    } catch (const c10::Error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("modified by an inplace operation"), std::string::npos) << text;
    }
  }
}

TEST(SavedBytesGradient, UnpacksTheTensorItselfAndNoCopy) {
  const at::Tensor leaf = at::randn({6, 8}).requires_grad_(true);
  const at::Tensor constant = at::randn({6, 8});
  SavedBytes meter;
  at::Tensor y;
  {
    const auto watch = meter.watch();
    y = leaf * constant;
  }
  // The derivative by the leaf is the constant: what comes back must be its memory's values now.
  const auto version = constant._version();
  constant.mutable_data_ptr<float>()[0] = 123;  // behind the version counter's back
  ASSERT_EQ(constant._version(), version);
  y.sum().backward();
  EXPECT_EQ(leaf.grad().const_data_ptr<float>()[0], 123);
}

}  // namespace saved_bytes_gradient_test

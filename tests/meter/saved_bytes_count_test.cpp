// Exact numbers of bytes, from the shapes and from what each derivative needs.
#include <functional>

#include <gtest/gtest.h>
#include <torch/nn/functional/activation.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/modules/transformerlayer.h>

#include "fewbit/saved_bytes.hpp"
#include "tests/support/autograd_node.hpp"

namespace saved_bytes_count_test {

namespace nn = torch::nn;
using fewbit::SavedTensor;
using fewbit::test::hidden;

struct Count {
  std::int64_t bytes = 0;
  std::int64_t parameters = 0;
  std::vector<SavedTensor> entries;
};

// What `forward` leaves behind while its result is alive.
Count count(const std::function<at::Tensor()>& forward) {
  fewbit::SavedBytes meter;
  at::Tensor result;
  {
    const auto watch = meter.watch();
    result = forward();
  }
  return {meter.unique_bytes(), meter.parameter_bytes(), meter.entries()};
}

TEST(SavedBytes, LinearKeepsItsInputAndUnderAHiddenInputItsWeight) {
  nn::Linear linear(8, 16);
  const at::Tensor data = at::randn({32, 8});
  const Count first = count([&] { return linear(data); });
  EXPECT_EQ(first.bytes, 32 * 8 * 4);
  EXPECT_EQ(first.parameters, 0);

  const at::Tensor x = hidden({32, 8});
  const Count inner = count([&] { return linear(x); });
  EXPECT_EQ(inner.bytes, 32 * 8 * 4);
  EXPECT_EQ(inner.parameters, 16 * 8 * 4);
}

TEST(SavedBytes, GeluKeepsItsInputInTheInputsType) {
  const at::Tensor x = hidden({32, 8});
  const Count single = count([&] { return at::gelu(x); });
  EXPECT_EQ(single.bytes, 32 * 8 * 4);
  const at::Tensor half = hidden({32, 8}, at::kBFloat16);
  const Count sixteen = count([&] { return at::gelu(half); });
  EXPECT_EQ(sixteen.bytes, 32 * 8 * 2);

  ASSERT_EQ(sixteen.entries.size(), 1);
  const SavedTensor& saved = sixteen.entries[0];
  EXPECT_EQ(saved.operation, "GeluBackward0");
  EXPECT_EQ(saved.maker, "CloneBackward0");
  EXPECT_NE(saved.maker_node, saved.node);
  EXPECT_EQ(saved.shape, (std::vector<std::int64_t>{32, 8}));
  EXPECT_EQ(saved.dtype, at::kBFloat16);
  EXPECT_TRUE(saved.device.is_cpu());
  EXPECT_FALSE(saved.parameter);
  EXPECT_FALSE(saved.shared);
}

TEST(SavedBytes, ReluKeepsItsOutput) {
  const at::Tensor x = hidden({32, 8});
  const Count relu = count([&] { return at::relu(x); });
  EXPECT_EQ(relu.bytes, 32 * 8 * 4);
  ASSERT_EQ(relu.entries.size(), 1);
  EXPECT_EQ(relu.entries[0].operation, "ReluBackward0");
  EXPECT_EQ(relu.entries[0].maker, "ReluBackward0");
  EXPECT_EQ(relu.entries[0].maker_node, relu.entries[0].node);
}

TEST(SavedBytes, LayerNormKeepsInputMeanAndScale) {
  const at::Tensor x = hidden({32, 6});
  nn::LayerNorm affine(nn::LayerNormOptions({6}));
  const Count with = count([&] { return affine(x); });
  EXPECT_EQ(with.bytes, 32 * 6 * 4 + 2 * 32 * 4);
  EXPECT_EQ(with.parameters, 2 * 6 * 4);

  // Without them weight and bias are undefined tensors.
  nn::LayerNorm plain(nn::LayerNormOptions({6}).elementwise_affine(false));
  const Count without = count([&] { return plain(x); });
  EXPECT_EQ(without.bytes, with.bytes);
  EXPECT_EQ(without.parameters, 0);
  for (const SavedTensor& saved : without.entries) {
    const bool input = saved.shape == std::vector<std::int64_t>{32, 6};
    EXPECT_EQ(saved.maker, input ? "CloneBackward0" : "NativeLayerNormBackward0");
  }
}

TEST(SavedBytes, ConvolutionKeepsInputAndWeight) {
  nn::Conv2d conv(nn::Conv2dOptions(3, 4, 3));
  const at::Tensor x = hidden({2, 3, 8, 8});
  const Count kept = count([&] { return conv(x); });
  EXPECT_EQ(kept.bytes, 2 * 3 * 8 * 8 * 4);
  EXPECT_EQ(kept.parameters, 4 * 3 * 3 * 3 * 4);
}

TEST(SavedBytes, PerceptronKeepsGelusInputAndOutputButRelusOutputOnce) {
  const at::Tensor data = at::randn({32, 8});
  nn::Sequential gelu(nn::Linear(8, 16), nn::GELU(), nn::Linear(16, 4));
  const Count smooth = count([&] { return gelu->forward(data); });
  EXPECT_EQ(smooth.bytes, 32 * 8 * 4 + 2 * 32 * 16 * 4);
  EXPECT_EQ(smooth.parameters, 4 * 16 * 4);

  nn::Sequential relu(nn::Linear(8, 16), nn::ReLU(), nn::Linear(16, 4));
  const Count step = count([&] { return relu->forward(data); });
  EXPECT_EQ(step.bytes, 32 * 8 * 4 + 32 * 16 * 4);

  std::int64_t storage = 0;
  for (const SavedTensor& saved : step.entries) {
    if (saved.maker != "ReluBackward0") continue;
    EXPECT_TRUE(saved.shared);
    EXPECT_TRUE(storage == 0 || storage == saved.storage);
    storage = saved.storage;
  }
  EXPECT_NE(storage, 0);
}

TEST(SavedBytes, TransformerLayerKeepsEveryTensorOfItsFormula) {
  constexpr std::int64_t kLength = 10, kBatch = 4, kWidth = 16, kHeads = 2, kInner = 32;
  nn::TransformerEncoderLayer layer(nn::TransformerEncoderLayerOptions(kWidth, kHeads)
                                        .dim_feedforward(kInner)
                                        .dropout(0.1)
                                        .activation(torch::kGELU));
  const at::Tensor data = at::randn({kLength, kBatch, kWidth});
  const Count kept = count([&] { return layer(data); });

  constexpr std::int64_t kTokens = kLength * kBatch;
  // Input, query, key, value, context; two residual masks; input of the first feed-forward layer.
  constexpr std::int64_t kWide = 8 * kTokens * kWidth;
  // Weights of attention, their dropout mask, and both multiplied.
  constexpr std::int64_t kAttention = 3 * kBatch * kHeads * kLength * kLength;
  // Input of GELU, dropout mask, input of the second feed-forward layer.
  constexpr std::int64_t kFeedForward = 3 * kTokens * kInner;
  // Two layer norms: input, mean, scale.
  constexpr std::int64_t kNorms = 2 * kTokens * (kWidth + 2);
  EXPECT_EQ(kept.bytes, 4 * (kWide + kAttention + kFeedForward + kNorms));
  // Weights whose input needs a gradient, and both norms'.
  constexpr std::int64_t kWeights = kWidth * kWidth + 2 * kWidth * kInner + 4 * kWidth;
  EXPECT_EQ(kept.parameters, 4 * kWeights);
}

TEST(SavedBytes, ViewsAreCountedOnceAndWithTheirWholeStorage) {
  const at::Tensor x = hidden({16, 8});
  const Count views = count([&] {
    return at::gelu(x.t()).sum() + at::gelu(x.view({8, 16})).sum();
  });
  EXPECT_EQ(views.bytes, 16 * 8 * 4);
  ASSERT_EQ(views.entries.size(), 2);
  EXPECT_EQ(views.entries[0].storage, views.entries[1].storage);
  EXPECT_EQ(views.entries[0].maker, "CloneBackward0");  // of the memory, not of the view
  EXPECT_NE(views.entries[0].node, views.entries[1].node);

  const Count part = count([&] { return at::gelu(x.narrow(0, 3, 1)); });
  EXPECT_EQ(part.bytes, 16 * 8 * 4);
}

TEST(SavedBytes, TensorSavedTwiceByOneOperationIsCountedOnce) {
  const at::Tensor x = hidden({16, 8});
  const Count square = count([&] { return x * x; });
  EXPECT_EQ(square.bytes, 16 * 8 * 4);
  ASSERT_EQ(square.entries.size(), 2);
  EXPECT_TRUE(square.entries[0].shared);
  EXPECT_EQ(square.entries[0].node, square.entries[1].node);
}

TEST(SavedBytes, ParametersAreApartAlsoThroughViewsAndDetachedHandles) {
  const at::Tensor weight = at::randn({8, 8}).requires_grad_(true);
  const at::Tensor x = hidden({8, 8});
  const Count view = count([&] { return x.matmul(weight.t()); });
  EXPECT_EQ(view.bytes, 8 * 8 * 4);
  EXPECT_EQ(view.parameters, 8 * 8 * 4);
  // Seen without history first, as a parameter later.
  const Count late = count([&] { return x * weight.detach() + x * weight; });
  EXPECT_EQ(late.bytes, 8 * 8 * 4);
  EXPECT_EQ(late.parameters, 8 * 8 * 4);
}

TEST(SavedBytes, FrozenWeightsCountUntilTheyAreSetApart) {
  nn::Linear frozen(8, 8);
  for (at::Tensor& weight : frozen->parameters()) weight.requires_grad_(false);
  const at::Tensor x = hidden({32, 8});
  const auto bytes_and_parameters = [&](fewbit::SavedBytes& meter) {
    at::Tensor y;
    const auto watch = meter.watch();
    y = frozen(x);
    return std::pair(meter.unique_bytes(), meter.parameter_bytes());
  };
  fewbit::SavedBytes meter;
  EXPECT_EQ(bytes_and_parameters(meter), std::pair(8L * 8 * 4, 0L));
  meter.reset();
  meter.set_apart(frozen->parameters());
  EXPECT_EQ(bytes_and_parameters(meter), std::pair(0L, 8L * 8 * 4));
  meter.reset();
  EXPECT_EQ(bytes_and_parameters(meter), std::pair(0L, 8L * 8 * 4)) << "remembered over a reset";
}

TEST(SavedBytes, SparseTensorsCountWhatTheirPartsHold) {
  const at::Tensor sparse = at::eye(8).to_sparse();
  const at::Tensor x = hidden({8, 4});
  const Count product = count([&] { return at::_sparse_mm(sparse, x); });
  // 8 entries: two 8-byte coordinates and a float each. The dense side is not needed.
  EXPECT_EQ(product.bytes, 8 * (2 * 8 + 4));
}

TEST(SavedBytes, NestedTensorsCountTheirStorage) {
  const at::Tensor nested =
      at::_nested_tensor_from_tensor_list({at::ones({2, 8}), at::ones({3, 8})})
          .requires_grad_(true)
          .clone();
  const Count kept = count([&] { return at::gelu(nested); });
  EXPECT_EQ(kept.bytes, (2 + 3) * 8 * 4);
  ASSERT_EQ(kept.entries.size(), 1);
  EXPECT_EQ(kept.entries[0].shape, (std::vector<std::int64_t>{2, -1}));
}

TEST(SavedBytes, NothingIsKeptWithoutGradients) {
  nn::Linear linear(8, 16);
  const at::Tensor data = at::randn({32, 8});
  const Count none = count([&] {
    const at::NoGradGuard no_grad;
    return linear(data);
  });
  EXPECT_EQ(none.bytes, 0);
  EXPECT_TRUE(none.entries.empty());
}

}  // namespace saved_bytes_count_test

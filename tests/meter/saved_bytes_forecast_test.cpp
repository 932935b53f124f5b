// What explain() says of activations, and the forecast of a scope against the scope itself.
#include <functional>
#include <string>

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/transformerlayer.h>

#include "fewbit/fewbit.hpp"
#include "tests/support/autograd_node.hpp"

namespace saved_bytes_forecast_test {

using fewbit::ActivationScope;
using fewbit::Bits;
using fewbit::SavedBytes;
using fewbit::test::hidden;
using Forward = std::function<at::Tensor()>;

struct PackedTensor {
  std::int64_t bytes = 0;
  std::int64_t in_scope = 0;
  std::string text;
};

PackedTensor kept(const Forward& forward, Bits bits = {3}) {
  SavedBytes meter;
  at::Tensor result;
  {
    const auto watch = meter.watch();
    result = forward();
  }
  return {meter.unique_bytes(), meter.unique_bytes_in_scope(bits), meter.explain(bits)};
}

// The forecast is what the scope does; returns what is said at 3 bits.
std::string checked(const Forward& forward) {
  for (const int bits : {1, 2, 3, 4}) {
    const PackedTensor outside = kept(forward, {bits});
    const ActivationScope scope({.bits = bits});
    const PackedTensor inside = kept(forward, {bits});
    EXPECT_EQ(outside.in_scope, inside.bytes) << bits << " bits\n" << outside.text << inside.text;
    EXPECT_EQ(inside.in_scope, inside.bytes) << bits << " bits\n" << inside.text;
  }
  return kept(forward).text;
}

testing::AssertionResult says(const std::string& text, const std::string& line) {
  if (text.find("  " + line + "\n") != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "not said: " << line << "\nbut:\n" << text;
}

at::Tensor linear(const at::Tensor& x, bool trained = true) {
  const at::Tensor weight =
      at::ones({4, x.size(1)}, x.options().requires_grad(false)).requires_grad_(trained);
  return at::linear(x, weight, at::ones({4}, weight.options()));
}

TEST(SavedBytesForecast, GeluBeforeALinearLayerSaysThatRebuildingSavesMore) {
  const at::Tensor x = hidden({32, 16});
  EXPECT_TRUE(says(
      checked([&] { return linear(at::gelu(x)); }),
      "gelu [32, 16] Float: keeps its input, 2,048 bytes; AddmmBackward0 keeps its output anyway, "
      "2,048 bytes: 3 bits save 1,856 of 4,096 bytes (29 of 64 bits per element); rebuilding the "
      "output from the input in backward would save 2,048, exactly"));
}

TEST(SavedBytesForecast, OneBitSavesFifteenOfThirtyTwoInBfloat16) {
  const at::Tensor x = hidden({32, 16}, at::kBFloat16);
  const auto forward = [&] { return linear(at::gelu(x)); };
  checked(forward);
  EXPECT_TRUE(says(kept(forward, {1}).text,
                   "gelu [32, 16] BFloat16: keeps its input, 1,024 bytes; AddmmBackward0 keeps its "
                   "output anyway, 1,024 bytes: 1 bit saves 960 of 2,048 bytes (15 of 32 bits per "
                   "element); rebuilding the output from the input in backward would save 1,024, "
                   "exactly"));
}

TEST(SavedBytesForecast, FrozenLayerKeepsNoOutputSoThatFewBitsSaveMost) {
  const at::Tensor x = hidden({32, 16}, at::kBFloat16);
  EXPECT_TRUE(says(checked([&] { return linear(at::gelu(x), false); }),
                   "gelu [32, 16] BFloat16: keeps its input, 1,024 bytes: 3 bits save 832 of 1,024 "
                   "bytes (13 of 16 bits per element)"));
}

TEST(SavedBytesForecast, ReluBetweenConvolutionsHasNothingToGain) {
  torch::nn::Sequential model(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 4, 3)),
                              torch::nn::BatchNorm2d(4), torch::nn::ReLU(),
                              torch::nn::Conv2d(torch::nn::Conv2dOptions(4, 4, 3)));
  const at::Tensor x = at::randn({2, 3, 8, 8});
  const auto forward = [&] { return model->forward(x); };
  const std::string text = checked(forward);
  EXPECT_TRUE(says(text,
                   "relu [2, 4, 6, 6] Float: keeps its output, 1,152 bytes, which "
                   "ConvolutionBackward0 keeps too: nothing to gain"));
  EXPECT_EQ(kept(forward).bytes, kept(forward).in_scope);
}

TEST(SavedBytesForecast, TransformerLayerWithAndWithoutDropout) {
  for (const double dropout : {0.0, 0.1}) {
    torch::nn::TransformerEncoderLayer layer(torch::nn::TransformerEncoderLayerOptions(16, 2)
                                                 .dim_feedforward(32)
                                                 .dropout(dropout)
                                                 .activation(torch::kGELU));
    const at::Tensor x = at::randn({10, 4, 16});
    const std::string text = checked([&] { return layer(x); });
    // The layer after a dropout keeps what comes out of that.
    EXPECT_EQ(text.find("its output anyway") != std::string::npos, dropout == 0.0) << text;
    EXPECT_TRUE(text.find("gelu [10, 4, 32] Float: keeps its input, 5,120 bytes") !=
                std::string::npos)
        << text;
  }
}

TEST(SavedBytesForecast, GatedSiluIsKeptByTheProduct) {
  const at::Tensor gate = hidden({32, 16}, at::kBFloat16), up = hidden({32, 16}, at::kBFloat16);
  EXPECT_TRUE(says(
      checked([&] { return linear(at::silu(gate) * up); }),
      "silu [32, 16] BFloat16: keeps its input, 1,024 bytes; MulBackward0 keeps its output anyway, "
      "1,024 bytes: 3 bits save 832 of 2,048 bytes (13 of 32 bits per element); rebuilding the "
      "output from the input in backward would save 1,024, exactly"));
}

TEST(SavedBytesForecast, HalvesOfOneProjectionAreKeptByTheProductAnyway) {
  const at::Tensor both = hidden({32, 16});
  const std::string text = checked([&] {
    const auto parts = both.chunk(2, 1);
    return linear(at::silu(parts[0]) * parts[1]);
  });
  EXPECT_TRUE(
      says(text,
           "silu [32, 8] Float: keeps its input, 2,048 bytes, which MulBackward0 keeps too; "
           "MulBackward0 keeps its output anyway, 1,024 bytes: nothing to gain, codes would "
           "add 96 bytes: leave_alone(\"silu\"); rebuilding the output from the input in "
           "backward would save 1,024, exactly"));
}

// Linear after what `change` does in place.
Forward after(const std::function<void(at::Tensor&)>& change) {
  return [change] {
    at::Tensor x = hidden({32, 16}) * 2;
    change(x);
    return linear(x);
  };
}

TEST(SavedBytesForecast, OutputThatTheNextActivationKeepsIsNotKeptAnyway) {
  const at::Tensor x = hidden({32, 16});
  std::string text = checked([&] { return linear(at::silu(at::gelu(x))); });
  EXPECT_TRUE(says(text,
                   "gelu [32, 16] Float: keeps its input, 2,048 bytes: 3 bits save 1,856 of 2,048 "
                   "bytes (29 of 32 bits per element)"));
  text = checked([&] {
    const at::Tensor y = at::gelu(x);
    return linear(y) + linear(at::silu(y));
  });
  EXPECT_TRUE(
      says(text,
           "gelu [32, 16] Float: keeps its input, 2,048 bytes; AddmmBackward0 keeps its "
           "output anyway, 2,048 bytes: 3 bits save 1,856 of 4,096 bytes (29 of 64 bits per "
           "element); rebuilding the output from the input in backward would save 2,048, "
           "exactly"));
}

TEST(SavedBytesForecast, InPlaceFormsAreTold) {
  std::string text = checked(after([](at::Tensor& x) { at::gelu_(x); }));
  EXPECT_NE(text.find("gelu [32, 16] Float: keeps a copy of its input, 2,048 bytes; AddmmBackward0 "
                      "keeps its output anyway, 2,048 bytes: 3 bits save 1,856 of 4,096 bytes"),
            std::string::npos)
      << text;
  text = checked(after([](at::Tensor& x) { at::leaky_relu_(x); }));
  EXPECT_TRUE(says(text,
                   "leaky_relu [32, 16] Float: keeps its output, 2,048 bytes, which AddmmBackward0 "
                   "keeps too: nothing to gain, codes would add 64 bytes: "
                   "leave_alone(\"leaky_relu\")"));
  for (const auto function : {at::silu_, at::mish_, at::relu_, at::sigmoid_, at::tanh_,
                              at::hardswish_, at::hardsigmoid_, at::selu_}) {
    checked(after([&](at::Tensor& x) { function(x); }));
  }
  checked([] {
    at::Tensor base = hidden({32, 16}) * 2;
    at::Tensor part = base.narrow(0, 0, 8);
    at::sigmoid_(part);
    return linear(base);
  });
}

TEST(SavedBytesForecast, OutputThatNobodyElseKeepsNeedsARule) {
  const at::Tensor x = hidden({32, 16});
  const auto forward = [&] { return at::tanh(x) + at::tanh(x); };
  EXPECT_TRUE(says(checked(forward),
                   "tanh [32, 16] Float, 2 calls, each: keeps its output, 2,048 bytes: 3 bits save "
                   "1,856 of 2,048 bytes (29 of 32 bits per element), in a scope by rule(\"tanh\", "
                   "Bits{3})"));
  const std::int64_t outside = kept(forward).bytes;
  ActivationScope scope;
  scope.rule("tanh", Bits{3});
  EXPECT_EQ(outside - kept(forward).bytes, 2 * 1856);
}

TEST(SavedBytesForecast, ExactOneBitTablesSaySo) {
  const at::Tensor x = hidden({32, 16});
  EXPECT_TRUE(says(checked([&] { return at::leaky_relu(x); }),
                   "leaky_relu [32, 16] Float: keeps its input, 2,048 bytes: 1 bit saves 1,984 of "
                   "2,048 bytes (31 of 32 bits per element), exactly"));
}

TEST(SavedBytesForecast, EveryOtherActivationAsTheScopeTakesIt) {
  const at::Tensor x = hidden({33, 17});
  const std::vector<Forward> forwards = {
      [&] { return linear(at::log_sigmoid(x)); },
      [&] { return linear(at::relu6(x)); },
      [&] { return linear(at::celu(x, 1.5)) + linear(at::celu(x)); },
      [&] { return linear(at::elu(x, 0.5)) + linear(at::selu(x)); },
      [&] { return at::elu(x, 1.0, 2.0, 3.0); },       // no function of the registry
      [&] { return linear(at::leaky_relu(x, 1.0)); },  // nothing to store
      [&] { return at::softplus(x) + at::softshrink(x) + at::hardshrink(x); },
      [&] { return at::threshold(x, 0.1, 0.0) + at::hardtanh(x) + at::mish(x); },
      [&] { return at::gelu(x, "tanh") + at::gelu(x) + at::gelu(x).exp(); },
      [&] { return at::gelu(x.to(at::kDouble)) + at::gelu(x.to(at::kHalf)); },
      [&] { return at::gelu(x.mul(2)).mul_(3) * at::silu(x.t()).t(); },
      [&] {
        return at::gelu(at::randn({5, 5})) + at::gelu(at::randn({5, 5}).requires_grad_());
      },
      [&] { return at::gelu(x.narrow(0, 0, 0)); },
  };
  for (std::size_t i = 0; i < forwards.size(); ++i) {
    SCOPED_TRACE(i);
    checked(forwards[i]);
  }
}

TEST(SavedBytesForecast, HoldsUnderAutocast) {
  torch::nn::Linear up(16, 32), down(32, 4);
  const at::Tensor x = at::randn({8, 16});
  at::autocast::set_autocast_enabled(at::kCPU, true);
  const std::string text = checked([&] {
    at::Tensor y = down(at::gelu(up(x)));
    at::autocast::clear_cache();
    return y;
  });
  at::autocast::set_autocast_enabled(at::kCPU, false);
  EXPECT_NE(text.find("gelu [8, 32] BFloat16"), std::string::npos) << text;
}

TEST(SavedBytesForecast, SpeaksOfTheMomentOfMostBytesAfterATrainingStep) {
  torch::nn::Sequential model(torch::nn::Linear(8, 16), torch::nn::GELU(),
                              torch::nn::Linear(16, 4));
  const at::Tensor x = at::randn({32, 8});
  const auto step = [&] {
    SavedBytes meter;
    const auto watch = meter.watch();
    for (int i = 0; i < 3; ++i) model->forward(x).sum().backward();
    return std::pair(meter.unique_bytes(), meter.unique_bytes_in_scope());
  };
  const std::int64_t forecast = step().second;
  const ActivationScope scope;
  EXPECT_EQ(step().first, forecast);
}

TEST(SavedBytesForecast, RefusesBitsThatAreNone) {
  SavedBytes meter;
  EXPECT_THROW(meter.explain({0}), c10::Error);
  EXPECT_THROW(meter.unique_bytes_in_scope({9}), c10::Error);
}

TEST(SavedBytesForecast, SharedInputGoesWithTheLastThatKeepsIt) {
  const at::Tensor x = hidden({32, 16});
  const std::string text = checked([&] { return at::gelu(x) + at::silu(x); });
  EXPECT_TRUE(says(text,
                   "gelu [32, 16] Float: keeps its input, 2,048 bytes, which SiluBackward0 keeps "
                   "too: 3 bits save 1,856 of 2,048 bytes (29 of 32 bits per element)"));
}

TEST(SavedBytesForecast, OurOwnCodesMayCostMoreThanRebuilding) {
  const at::Tensor x = hidden({32, 16});
  const std::string text = checked([&] { return linear(fewbit::gelu(x, Bits{3})); });
  EXPECT_TRUE(says(text,
                   "gelu [32, 16] Float: keeps 3 bits per element, 192 bytes; AddmmBackward0 keeps "
                   "its output anyway, 2,048 bytes; keeping the input alone, 2,048 bytes, and "
                   "rebuilding the output from it in backward would save 192, exactly"));
  EXPECT_EQ(text.find("ActivationScope"), std::string::npos) << "there is nothing to replace";
  EXPECT_TRUE(says(kept([&] { return fewbit::gelu(x, Bits{1}); }).text,
                   "gelu [32, 16] Float: keeps 1 bit per element, 64 bytes"));
}

TEST(SavedBytesForecast, SaysNothingWhereThereIsNoActivation) {
  const at::Tensor x = hidden({32, 16});
  EXPECT_EQ(checked([&] { return linear(x.exp()); }).find("activations:"), std::string::npos);
}

}  // namespace saved_bytes_forecast_test

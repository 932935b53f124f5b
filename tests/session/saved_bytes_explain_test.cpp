// The table as a person sees it.
#include <gtest/gtest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include "fewbit/saved_bytes.hpp"

namespace {

namespace nn = torch::nn;

std::string explained(nn::Sequential& model, const at::Tensor& data) {
  fewbit::SavedBytes meter;
  at::Tensor y;
  const auto watch = meter.watch();
  y = model->forward(data);
  return meter.explain();
}

TEST(SavedBytesExplain, SaysWhoseOutputTheNextLayerKeepsAnyway) {
  nn::Sequential model(nn::Linear(8, 16), nn::ReLU(), nn::Linear(16, 16), nn::ReLU(),
                       nn::Linear(16, 4));
  EXPECT_EQ(
      explained(model, at::ones({32, 8})),
      R"(autograd keeps 5,120 bytes in 3 storages for backward, and 1,280 bytes of 2 parameters that live anyway

operation               calls  keeps     type   made by                bytes  only here    share
ReluBackward0               2  [32, 16]  Float  itself                 4,096          0   80.0 %
AddmmBackward0              2  [32, 16]  Float  ReluBackward0          4,096          0   80.0 %
AddmmBackward0              1  [32, 8]   Float  data without gradient  1,024      1,024   20.0 %
all, each storage once                                                 5,120             100.0 %

kept by several operations, gone only when none keeps it:
  ReluBackward0 keeps its output [32, 16] Float, which AddmmBackward0 keeps anyway: 4,096 bytes in 2 storages
)");
}

TEST(SavedBytesExplain, TellsGelusInputFromItsOutput) {
  nn::Sequential model(nn::Linear(8, 16), nn::GELU(), nn::Linear(16, 4));
  const std::string text = explained(model, at::ones({32, 8}));
  EXPECT_NE(text.find("GeluBackward0               1  [32, 16]  Float  AddmmBackward0"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("AddmmBackward0              1  [32, 16]  Float  GeluBackward0"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("kept by several"), std::string::npos) << text;
}

TEST(SavedBytesExplain, NamesAllKeepersOfWhatAThirdMade) {
  const at::Tensor leaf = at::ones({32, 32}).requires_grad_(true);
  fewbit::SavedBytes meter;
  const auto watch = meter.watch();
  const at::Tensor x = leaf.clone();
  const at::Tensor gelu = at::gelu(x), silu = at::silu(x), cube = x.pow(3);
  const std::string text = meter.explain();
  EXPECT_NE(
      text.find("  GeluBackward0, SiluBackward0 and PowBackward0 keep the same [32, 32] Float, "
                "made by CloneBackward0: 4,096 bytes\n"),
      std::string::npos)
      << text;
}

TEST(SavedBytesExplain, SaysThatNothingIsKept) {
  EXPECT_EQ(fewbit::SavedBytes().explain(),
            "autograd keeps 0 bytes in 0 storages for backward, and 0 bytes of 0 parameters that "
            "live anyway\n");
}

}  // namespace

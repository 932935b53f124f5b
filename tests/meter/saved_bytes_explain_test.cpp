// The table as a person sees it.
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "fewbit/saved_bytes.hpp"

namespace saved_bytes_explain_test {

using Activation = at::Tensor (*)(const at::Tensor&);

// A perceptron of the given widths with an activation between its layers.
std::string explained(const std::vector<std::int64_t>& widths, Activation activation) {
  fewbit::SavedBytes meter;
  at::Tensor x = at::ones({32, widths[0]});
  const auto watch = meter.watch();
  for (std::size_t i = 1; i < widths.size(); ++i) {
    const at::Tensor weight = at::ones({widths[i], widths[i - 1]}).requires_grad_(true);
    const at::Tensor bias = at::ones({widths[i]}).requires_grad_(true);
    x = at::linear(i == 1 ? x : activation(x), weight, bias);
  }
  return meter.explain();
}

TEST(SavedBytesExplain, SaysWhoseOutputTheNextLayerKeepsAnyway) {
  EXPECT_EQ(
      explained({8, 16, 16, 4}, at::relu),
      R"(autograd keeps 5,120 bytes in 3 storages for backward, and 1,280 bytes of 2 parameters that live anyway

operation       calls  keeps     type   made by                bytes  only here    share
ReluBackward0       2  [32, 16]  Float  itself                 4,096          0   80.0 %
AddmmBackward0      2  [32, 16]  Float  ReluBackward0          4,096          0   80.0 %
AddmmBackward0      1  [32, 8]   Float  data without gradient  1,024      1,024   20.0 %
all, each once                                                 5,120             100.0 %

kept by several operations, gone only when none keeps it:
  ReluBackward0 keeps its output [32, 16] Float, which AddmmBackward0 keeps anyway: 4,096 bytes in 2 storages

activations:
  relu [32, 16] Float, 2 calls, each: keeps its output, 2,048 bytes, which AddmmBackward0 keeps too: nothing to gain
with ActivationScope at 3 bits this forward would keep 5,120 bytes instead of 5,120
)");
}

TEST(SavedBytesExplain, TellsSilusInputFromItsOutput) {
  EXPECT_EQ(
      explained({8, 16, 4}, at::silu),
      R"(autograd keeps 5,120 bytes in 3 storages for backward, and 256 bytes of 1 parameter that lives anyway

operation       calls  keeps     type   made by                bytes  only here    share
SiluBackward0       1  [32, 16]  Float  AddmmBackward0         2,048      2,048   40.0 %
AddmmBackward0      1  [32, 16]  Float  SiluBackward0          2,048      2,048   40.0 %
AddmmBackward0      1  [32, 8]   Float  data without gradient  1,024      1,024   20.0 %
all, each once                                                 5,120             100.0 %

activations:
  silu [32, 16] Float: keeps its input, 2,048 bytes; AddmmBackward0 keeps its output anyway, 2,048 bytes: 3 bits save 1,856 of 4,096 bytes (29 of 64 bits per element); rebuilding the output from the input in backward would save 2,048, exactly
with ActivationScope at 3 bits this forward would keep 3,264 bytes instead of 5,120
)");
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

}  // namespace saved_bytes_explain_test

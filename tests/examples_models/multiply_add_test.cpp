// Multiplications of a forward: what strides, poolings and paddings determine and parameters do not
// show.
#include <memory>
#include <ostream>
#include <string>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include "examples/models/catalogue.hpp"

namespace fewbit::examples::multiply_add_test {

thread_local int64_t counted = 0;

/// Of a convolution that runs: multiplications for each output.
struct Convolution : at::ObserverContext {
  explicit Convolution(int64_t elements) : of_each(elements) {}
  int64_t of_each;
};

std::unique_ptr<at::ObserverContext> begins(const at::RecordFunction& call) {
  const std::string name = call.name();
  const auto size = [&](size_t input, int64_t dim) {
    return call.inputs()[input].toTensor().size(dim);
  };
  if (name == "aten::convolution") {
    return std::make_unique<Convolution>(size(1, 1) * size(1, 2) * size(1, 3));
  }
  if (name == "aten::mm") {
    counted += size(0, 0) * size(0, 1) * size(1, 1);
  } else if (name == "aten::addmm") {
    counted += size(1, 0) * size(1, 1) * size(2, 1);
  } else if (name == "aten::scaled_dot_product_attention") {
    counted += 2 * call.inputs()[0].toTensor().numel() * size(1, -2);
  }
  return nullptr;
}

void ends(const at::RecordFunction& call, at::ObserverContext* context) {
  if (const auto* convolution = dynamic_cast<Convolution*>(context)) {
    counted += call.outputs()[0].toTensor().numel() * convolution->of_each;
  }
}

/// In convolutions, products of matrices and attention, for a batch of one.
int64_t multiplications(const std::string& model) {
  const ModelSubject subject = make_model(model, 1);
  const at::NoGradGuard guard;
  counted = 0;
  const auto callback = at::addThreadLocalCallback(at::RecordFunctionCallback(begins, ends)
                                                       .needsInputs(true)
                                                       .needsOutputs(true)
                                                       .scopes({at::RecordScope::FUNCTION}));
  subject.loss();
  at::removeCallback(callback);
  return counted;
}

struct Published {
  const char* model;
  double billions;
};

std::ostream& operator<<(std::ostream& out, const Published& published) {
  return out << published.model;
}

class Multiplications : public testing::TestWithParam<Published> {};

TEST_P(Multiplications, AreAsPublished) {
  EXPECT_NEAR(static_cast<double>(multiplications(GetParam().model)) * 1e-9, GetParam().billions,
              0.005);
}

// Torchvision's figures for its networks of these names; of ViT-S that of later papers, 4.6.
INSTANTIATE_TEST_SUITE_P(Networks, Multiplications,
                         testing::Values(Published{"resnet18", 1.81}, Published{"resnet50", 4.09},
                                         Published{"resnet152", 11.51},
                                         Published{"wide_resnet50_2", 11.40},
                                         Published{"vgg11", 7.61}, Published{"densenet121", 2.83},
                                         Published{"vit_small_16", 4.60}),
                         [](const auto& test) { return std::string(test.param.model); });

// Convolutions of one bottleneck whose picture has `side` rows after the first.
constexpr int64_t bottleneck(int64_t inputs, int64_t inner, int64_t side) {
  return side * side * inner * (inputs + 9 * inner + 4 * inner);
}

// 18 of them, the first with a convolution of 1x1 beside it.
constexpr int64_t stage(int64_t inputs, int64_t inner, int64_t side) {
  return bottleneck(inputs, inner, side) + side * side * inputs * 4 * inner +
         17 * bottleneck(4 * inner, inner, side);
}

TEST(MultiplicationsOfLayers, OfPreActivationResNet164) {
  EXPECT_EQ(
      multiplications("preresnet164_cifar"),
      32 * 32 * 16 * 27 + stage(16, 16, 32) + stage(64, 32, 16) + stage(128, 64, 8) + 10 * 256);
}

// Each of two convolutions; where the picture shrinks, 1x1 beside the first.
TEST(MultiplicationsOfLayers, OfResNet18ForSmallPictures) {
  int64_t sum = 32 * 32 * 64 * 27 + 10 * 512;
  for (int64_t width = 64, side = 32; width <= 512; width *= 2, side /= 2) {
    const int64_t inputs = width == 64 ? 64 : width / 2;
    const int64_t shortcut = width == 64 ? 0 : inputs * width;
    sum += side * side * (9 * width * (inputs + 3 * width) + shortcut);
  }
  EXPECT_EQ(multiplications("resnet18_cifar"), sum);
}

}  // namespace fewbit::examples::multiply_add_test

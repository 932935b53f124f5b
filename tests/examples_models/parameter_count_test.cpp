// How many parameters each network has: as published, or added up from its layers.
#include <ostream>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "examples/models/catalogue.hpp"

namespace fewbit::examples::parameter_count_test {

struct Published {
  const char* model;
  int64_t parameters;
};

std::ostream& operator<<(std::ostream& out, const Published& published) {
  return out << published.model;
}

int64_t elements(const std::vector<at::Tensor>& tensors) {
  int64_t sum = 0;
  for (const at::Tensor& tensor : tensors) sum += tensor.numel();
  return sum;
}

class ParameterCount : public testing::TestWithParam<Published> {};

TEST_P(ParameterCount, IsAsPublished) {
  EXPECT_EQ(elements(make_model(GetParam().model, 1).parameters), GetParam().parameters);
}

// BERT as published ends with the pooler; a layer for 2 classes follows.
INSTANTIATE_TEST_SUITE_P(
    Networks, ParameterCount,
    testing::Values(Published{"resnet18", 11'689'512}, Published{"resnet50", 25'557'032},
                    Published{"resnet152", 60'192'808}, Published{"wide_resnet50_2", 68'883'240},
                    Published{"vgg11", 132'863'336}, Published{"vgg11_bn", 132'868'840},
                    Published{"densenet121", 7'978'856}, Published{"vit_small_16", 22'050'664},
                    Published{"bert_small_128", 28'763'648 + 2 * 512 + 2},
                    Published{"bert_base", 109'482'240 + 2 * 768 + 2},
                    Published{"bert_large", 335'141'888 + 2 * 1024 + 2}),
    [](const auto& test) { return std::string(test.param.model); });

// ResNet-18 with a stem of 3x3 and not 7x7, and 10 classes and not 1000.
TEST(ParameterCounts, OfResNet18ForSmallPictures) {
  const int64_t stem = 3 * 64 * (7 * 7 - 3 * 3), classifier = (1000 - 10) * (512 + 1);
  EXPECT_EQ(elements(make_model("resnet18_cifar", 1).parameters), 11'689'512 - stem - classifier);
}

// Of a bottleneck: three norms, convolutions of 1x1, 3x3 and 1x1.
constexpr int64_t bottleneck(int64_t inputs, int64_t inner) {
  return 2 * (inputs + inner + inner) + inner * (inputs + 9 * inner + 4 * inner);
}

// Of a stage: 18 of them, the first with a convolution of 1x1 beside it.
constexpr int64_t stage(int64_t inputs, int64_t inner) {
  return bottleneck(inputs, inner) + inputs * 4 * inner + 17 * bottleneck(4 * inner, inner);
}

// 1.7 million in the paper.
TEST(ParameterCounts, OfPreActivationResNet164) {
  constexpr int64_t stem = 3 * 16 * 9, norm = 2 * 256, classifier = 10 * (256 + 1);
  constexpr int64_t sum = stem + stage(16, 16) + stage(64, 32) + stage(128, 64) + norm + classifier;
  static_assert(sum == 1'703'258);
  EXPECT_EQ(elements(make_model("preresnet164_cifar", 1).parameters), sum);
}

// Words and scores; of a block four matrices of attention, three of the feed-forward, two norms.
TEST(ParameterCounts, OfGpt) {
  constexpr int64_t width = 768, words = 32000 * width;
  constexpr int64_t block = 4 * width * width + 3 * width * 2048 + 2 * width;
  static_assert(2 * words + 12 * block + width == 134'105'856);
  EXPECT_EQ(elements(make_model("gpt", 1).parameters), 134'105'856);
}

}  // namespace fewbit::examples::parameter_count_test

// Shapes of outputs and gradients of the larger networks' forms, at reduced depth and width;
// dropout.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "examples/models/bert.hpp"
#include "examples/models/densenet.hpp"
#include "examples/models/gpt.hpp"
#include "examples/models/resnet.hpp"
#include "examples/models/vgg.hpp"
#include "examples/models/vit.hpp"
#include "tests/examples_models/support.hpp"

namespace fewbit::examples::network_test {

/// That scores of the model have that shape and their squares reach every parameter.
template <class Model, class... Inputs>
void expect_training(Model model, at::IntArrayRef shape, const Inputs&... inputs) {
  const at::Tensor scores = model->forward(inputs...);
  EXPECT_EQ(scores.sizes(), shape);
  test::expect_gradients(scores.square().mean(), model->named_parameters().keys(),
                         model->parameters());
}

at::Tensor pictures(int64_t n, int64_t side) {
  at::manual_seed(3);
  return at::randn({n, 3, side, side});
}

at::Tensor integers(int64_t below, at::IntArrayRef sizes) {
  at::manual_seed(4);
  return at::randint(below, sizes, at::kLong);
}

TEST(ResNet, OfBottlenecksTrains) {
  ResNetOptions options = resnet50();
  options.blocks = {2, 1, 2, 1};
  options.width = 8;
  expect_training(ResNet(options), {3, 1000}, pictures(3, 64));
  options.widening = 2;
  options.classes = 7;
  expect_training(ResNet(options), {3, 7}, pictures(3, 64));
}

TEST(ResNet, ShrinksPicturesBy32OrBy8) {
  ResNetOptions options{.blocks = {1, 1, 1, 1}, .width = 4};
  ResNet large(options);
  const at::Tensor x = pictures(2, 64);
  EXPECT_EQ(large->stem->forward(x).sizes(), at::IntArrayRef({2, 4, 16, 16}));
  EXPECT_EQ(large->stages->forward(large->stem->forward(x)).sizes(),
            at::IntArrayRef({2, 32, 2, 2}));
  options.small_pictures = true;
  ResNet small(options);
  EXPECT_EQ(small->stages->forward(small->stem->forward(x)).sizes(),
            at::IntArrayRef({2, 32, 8, 8}));
}

TEST(ResNet, BottleneckHasItsStrideInTheMiddle) {
  ResNetBlock block(32, 16, 2, resnet50());
  const auto& middle = block->residual[3]->as<torch::nn::Conv2d>()->options;
  EXPECT_EQ(*middle.kernel_size(), at::IntArrayRef({3, 3}));
  EXPECT_EQ(*middle.stride(), at::IntArrayRef({2, 2}));
  EXPECT_EQ(block(pictures(2, 8).repeat({1, 11, 1, 1}).narrow(1, 0, 32)).sizes(),
            at::IntArrayRef({2, 64, 4, 4}));
}

TEST(PreResNet, Trains) {
  expect_training(PreResNet(PreResNetOptions{.blocks = 2, .width = 4}), {3, 10}, pictures(3, 32));
}

// Without a change of shape the input is added as it is, not its activation.
TEST(PreResNet, AddsToTheRawInput) {
  PreResNetBlock block(16, 4, 1);
  const at::NoGradGuard guard;
  block->residual[6]->as<torch::nn::Conv2d>()->weight.zero_();
  const at::Tensor x = at::randn({2, 16, 8, 8});
  EXPECT_TRUE(at::equal(block(x), x));
}

TEST(Vgg, TrainsWithAndWithoutBatchNorm) {
  VggOptions options{.picture = 64, .width = 4, .hidden = 40, .classes = 9};
  expect_training(Vgg(options), {4, 9}, pictures(4, 64));
  options.batch_norm = true;
  expect_training(Vgg(options), {4, 9}, pictures(4, 64));
  EXPECT_THROW(Vgg(VggOptions{.picture = 80}), c10::Error);
}

TEST(Vgg, DropsOutInTrainingAlone) {
  Vgg model(VggOptions{.picture = 32, .width = 4, .hidden = 40});
  const at::Tensor x = pictures(2, 32);
  EXPECT_FALSE(at::equal(model(x), model(x)));
  model->eval();
  EXPECT_TRUE(at::equal(model(x), model(x)));
}

TEST(DenseNet, Trains) {
  expect_training(DenseNet(DenseNetOptions{.layers = {2, 1, 2}, .growth = 8, .classes = 5}), {3, 5},
                  pictures(3, 64));
}

TEST(Vit, Trains) {
  const VitOptions options{
      .picture = 32, .patch = 8, .width = 24, .blocks = 2, .heads = 3, .classes = 5};
  expect_training(Vit(options), {3, 5}, pictures(3, 32));
}

TEST(Gpt, Trains) {
  const GptOptions options{.vocabulary = 40, .width = 24, .blocks = 2, .heads = 3};
  expect_training(Gpt(options), {2, 9, 40}, integers(40, {2, 9}));
  EXPECT_THROW(Gpt(GptOptions{.width = 30, .heads = 6}), c10::Error);
}

TEST(Gpt, SeesNothingLater) {
  Gpt model(GptOptions{.vocabulary = 40, .width = 24, .blocks = 2, .heads = 3});
  const at::Tensor tokens = integers(40, {1, 9});
  at::Tensor changed = tokens.clone();
  changed.select(1, 6).fill_((tokens[0][6].item<int64_t>() + 1) % 40);
  const at::Tensor one = model(tokens), other = model(changed);
  EXPECT_TRUE(at::allclose(one.narrow(1, 0, 6), other.narrow(1, 0, 6), 1e-5, 1e-6));
  for (int64_t place = 6; place < 9; ++place) {
    EXPECT_FALSE(at::allclose(one.select(1, place), other.select(1, place), 1e-3, 1e-4)) << place;
  }
}

BertOptions small_bert() {
  return {.vocabulary = 40, .positions = 16, .width = 24, .blocks = 2, .heads = 3, .dropout = 0.0};
}

at::Tensor sentences(int64_t n, int64_t length) {
  return (at::arange(length) >= length / 2).to(at::kLong).expand({n, length});
}

TEST(Bert, TrainsWithBothDropouts) {
  BertOptions options = small_bert();
  options.dropout = options.attention_dropout = 0.1;
  expect_training(BertClassifier(options), {3, 2}, integers(40, {3, 16}), sentences(3, 16));
}

TEST(Bert, AttentionDropsOutByOptionInTrainingAlone) {
  BertOptions options = small_bert();
  const at::Tensor tokens = integers(40, {2, 16}), types = sentences(2, 16);
  BertClassifier steady(options);
  EXPECT_TRUE(at::equal(steady(tokens, types), steady(tokens, types)));
  options.attention_dropout = 0.5;
  BertClassifier model(options);
  EXPECT_FALSE(at::equal(model(tokens, types), model(tokens, types)));
  model->eval();
  EXPECT_TRUE(at::equal(model(tokens, types), model(tokens, types)));
}

}  // namespace fewbit::examples::network_test

// Names of the catalogue, and what make_model promises, on its small networks.
#include "examples/models/catalogue.hpp"

#include <map>
#include <set>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/examples_models/support.hpp"

namespace fewbit::examples::catalogue_test {

TEST(Catalogue, NamesAreDistinct) {
  const auto names = model_names();
  EXPECT_EQ(names.size(), 17u);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(Catalogue, SameNetworkAndBatchEveryTime) {
  const ModelSubject one = make_model("resnet18_cifar", 2);
  const ModelSubject other = make_model("resnet18_cifar", 2);
  EXPECT_EQ(one.loss().item<float>(), other.loss().item<float>());
  EXPECT_NE(one.loss().item<float>(), make_model("resnet18_cifar", 3).loss().item<float>());
}

TEST(Catalogue, EndsDropout) {
  const ModelSubject subject = make_model("bert_small_128", 2);
  EXPECT_NE(subject.loss().item<float>(), subject.loss().item<float>());
  EXPECT_TRUE(subject.end_dropout());
  EXPECT_EQ(subject.loss().item<float>(), subject.loss().item<float>());
  EXPECT_FALSE(subject.end_dropout());
}

TEST(Catalogue, BlocksRunAsIsSaid) {
  const std::map<std::string, int> blocks = {{"resnet18_cifar", 8}, {"bert_small_128", 4}};
  for (const auto& [name, count] : blocks) {
    const ModelSubject subject = make_model(name, 2);
    subject.end_dropout();
    const auto loss = subject.loss().item<float>();
    int calls = 0;
    subject.run_blocks_by([&](const Block& block, const at::Tensor& x) {
      ++calls;
      return block(x);
    });
    EXPECT_EQ(subject.loss().item<float>(), loss);
    EXPECT_EQ(calls, count) << name;
    subject.run_blocks_by(nullptr);
    EXPECT_EQ(subject.loss().item<float>(), loss);
    EXPECT_EQ(calls, count) << name;
  }
  EXPECT_EQ(make_model("vgg11", 1).run_blocks_by, nullptr);
}

TEST(Catalogue, SaysWhatItDoesNotHave) {
  try {
    make_model("alexnet", 1);
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what_without_backtrace()).find("resnet18_cifar"),
              std::string::npos);
  }
  EXPECT_THROW(make_model("resnet18", 0), c10::Error);
}

class CatalogueTraining : public testing::TestWithParam<const char*> {};

TEST_P(CatalogueTraining, LossIsFiniteAndEveryParameterGetsAGradient) {
  const ModelSubject subject = make_model(GetParam(), 2);
  test::expect_gradients(subject.loss(), subject.names, subject.parameters);
}

INSTANTIATE_TEST_SUITE_P(Networks, CatalogueTraining,
                         testing::Values("resnet18", "resnet18_cifar", "preresnet164_cifar",
                                         "densenet121", "vit_small_16", "bert_base_128"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace fewbit::examples::catalogue_test

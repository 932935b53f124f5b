// What large networks keep for backward: exact, against sums over their layers, and coded, against
// what the schemes' own programs reach by such sums.
#include <optional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "examples/models/catalogue.hpp"
#include "fewbit/compressor.hpp"
#include "fewbit/saved_bytes.hpp"

namespace fewbit::examples::kept_bytes_test {

struct Bytes {
  int64_t all = 0;
  int64_t own = 0;  ///< without the batch and buffers
};

/// Of a forward. What is kept of norms and products is known by shapes alone, so of the first.
Bytes kept(const ModelSubject& model, std::optional<CompressorOptions> options) {
  SavedBytes all, own;
  own.set_apart(model.beside);
  const auto watch = all.watch(), watch_own = own.watch();
  std::optional<Compressor> compressor;
  std::optional<CompressionScope> scope;
  if (options) scope.emplace(compressor.emplace(*options));
  const at::Tensor loss = model.loss();
  return {all.unique_bytes(), own.unique_bytes()};
}

double times_less(int64_t exact, int64_t coded) {
  return static_cast<double>(exact) / static_cast<double>(coded);
}

/// Every input of a convolution and a norm, every activation in place and the pooling's places
/// once; MiB of so many pictures of 224 x 224, these aside.
struct Sum {
  const char* model;
  double mebibytes;
  double pictures;
};

std::ostream& operator<<(std::ostream& out, const Sum& sum) {
  return out << sum.model;
}

class KeptBytes : public testing::TestWithParam<Sum> {};

TEST_P(KeptBytes, AreTheSumOverLayers) {
  const auto& [name, mebibytes, pictures] = GetParam();
  const double expected = mebibytes / pictures * 0x1p20;
  const ModelSubject model = make_model(name, 1);
  EXPECT_NEAR(static_cast<double>(kept(model, {}).own), expected, 0.01 * expected);
}

INSTANTIATE_TEST_SUITE_P(Networks, KeptBytes,
                         testing::Values(Sum{"resnet50", 5206.8, 64}, Sum{"resnet152", 5396.4, 32}),
                         [](const auto& entry) { return std::string(entry.param.model); });

struct Reached {
  const char* model;
  const char* scheme;
  CompressorOptions options;
  double times;
  bool is_batch_aside = false;
};

std::ostream& operator<<(std::ostream& out, const Reached& reached) {
  return out << reached.model << ", " << reached.scheme;
}

class TimesLess : public testing::TestWithParam<Reached> {};

TEST_P(TimesLess, AreNoFewerThanOfTheScheme) {
  const Reached& reached = GetParam();
  const ModelSubject model = make_model(reached.model, 2);
  const Bytes exact = kept(model, {}), coded = kept(model, reached.options);
  EXPECT_GE(
      reached.is_batch_aside ? times_less(exact.own, coded.own) : times_less(exact.all, coded.all),
      reached.times);
}

INSTANTIATE_TEST_SUITE_P(
    Schemes, TimesLess,
    testing::Values(
        Reached{"resnet50", "actnn_1", {.bits = 2, .scheme = Scheme::actnn, .level = 1}, 1.67},
        Reached{"resnet50", "actnn_2", {.bits = 2, .scheme = Scheme::actnn, .level = 2}, 6.80},
        Reached{
            "resnet50", "actnn_3", {.bits = 2, .scheme = Scheme::actnn, .level = 3}, 11.95, true},
        Reached{"resnet50", "gact", {.bits = 4, .scheme = Scheme::gact}, 6.45},
        Reached{"wide_resnet50_2", "division", {.bits = 2, .scheme = Scheme::division}, 10.6},
        Reached{"bert_large_128", "gact", {.bits = 4, .scheme = Scheme::gact}, 7.55}),
    [](const auto& entry) { return std::string(entry.param.model) + "_" + entry.param.scheme; });

}  // namespace fewbit::examples::kept_bytes_test

// What sites, budget and report count, against what the allocator holds.
#include <algorithm>
#include <functional>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/rnn.h>

#include "fewbit/saved_bytes.hpp"
#include "tests/compression/allocated.hpp"
#include "tests/compression/recompute_network.hpp"

namespace fewbit::counted_memory_test {

using namespace test;
using testing::HasSubstr;

TEST(CountedMemory, CopiesOfParametersAreCountedAndShared) {
  at::manual_seed(52);
  const at::Tensor position = parameter({16, 512});
  const at::Tensor x = at::randn({16, 16, 512}).requires_grad_();
  const at::Tensor weight = parameter({512, 512});
  Compressor compressor({.bits = 2, .directions = 16});
  const auto forward = [&] {
    at::Tensor h = x * 1.0;
    at::Tensor sum = at::zeros({});
    for (int i = 0; i < 6; ++i) {
      h = at::matmul(h + position, weight) * 0.03;
      sum = sum + h.sum();
    }
    return sum;
  };
  int64_t held = 0;
  for (int step = 0; step < 4; ++step) held = allocated(forward, &compressor);
  // Directions are there before.
  int64_t counted = 0;
  for (const Compressor::Site& site : compressor.sites()) {
    const bool has_directions = site.stored.codec.find("low rank") != std::string::npos;
    counted += site.bytes_after - (has_directions ? site.bytes_of_directions : 0);
  }
  EXPECT_NEAR(static_cast<double>(held), static_cast<double>(counted),
              0.01 * static_cast<double>(counted))
      << compressor.report();
}

TEST(CountedMemory, ABudgetHoldsForBatchesOfEverySizeThatWas) {
  at::manual_seed(56);
  const at::Tensor weight = parameter({256, 256});
  constexpr int64_t kBudget = 150000;
  Compressor compressor({.bytes = kBudget});
  for (int step = 0; step < 10; ++step) {
    const at::Tensor x = at::randn({step % 3 == 0 ? 192 : 64, 256}).requires_grad_();
    {
      const CompressionScope scope(compressor);
      at::Tensor h = x * 1.0;
      for (int i = 0; i < 5; ++i) h = at::gelu(at::mm(h, weight));
      at::mm(h, weight);
    }
    int64_t bytes = 0;
    for (const Compressor::Site& site : compressor.sites()) bytes += site.bytes_after;
    if (step > 0) {
      EXPECT_LE(bytes, kBudget) << step << '\n' << compressor.report();
    }
    if (step == 9) {
      EXPECT_GT(bytes, kBudget * 3 / 4) << compressor.report();
    }
  }
}

// A softmax of rows by rows grows with their square, and is too small to be coded where they are
// few.
TEST(CountedMemory, ABudgetHoldsWhereSitesGrowUnlike) {
  at::manual_seed(57);
  const at::Tensor weight = parameter({64, 64});
  constexpr int64_t kBudget = 60000;
  Compressor compressor({.bytes = kBudget});
  std::mt19937 random(57);
  for (int step = 0; step < 12; ++step) {
    const int64_t rows = step == 0 ? 250 : 16 + static_cast<int64_t>(random() % 234);
    const at::Tensor x = at::randn({rows, 64}).requires_grad_();
    const int64_t bytes = allocated(
        [&] {
          at::Tensor h = at::gelu(at::mm(x * 1.0, weight));
          h = at::mm(at::softmax(at::mm(h, h.t()) * 0.1, 1), h);
          return at::mm(at::layer_norm(h, {64}).square(), weight).sum();
        },
        &compressor);
    if (step > 0) {
      EXPECT_LE(bytes, kBudget + 4096) << rows << " rows, step " << step << compressor.report();
    }
  }
}

TEST(CountedMemory, TheReportCountsEachMemoryOnce) {
  at::manual_seed(58);
  const at::Tensor x = at::randn({256, 256}).requires_grad_();
  const std::function<at::Tensor(const at::Tensor&)> forwards[] = {
      [](const at::Tensor& h) {
        const at::Tensor square = h.square(), quotient = h / (h.abs() + 1.0);
        return at::log(square + 1.0).sum() + quotient.sum();
      },
      [](const at::Tensor& h) {
        const at::Tensor square = h.square(), other = h.square();
        return at::log(square + 1.0).sum() + at::sqrt(other + 1.0).sum() + at::abs(h).sum();
      },
      [](const at::Tensor& h) {  // whose codes would be more than all of h
        at::Tensor sum = at::zeros({});
        for (int64_t i = 0; i < 16; ++i) sum = sum + h.narrow(1, 8 * i, 128).square().sum();
        return sum;
      },
  };
  for (const auto& forward : forwards) {
    Compressor compressor({.bits = 8});
    const auto kept = static_cast<double>(allocated([&] { return forward(x * 1.0); }, &compressor));
    int64_t counted = 0;
    for (const Compressor::Site& site : compressor.sites()) counted += site.bytes_after;
    for (const Compressor::LeftAlone& left : compressor.left_alone()) counted += left.bytes;
    EXPECT_NEAR(static_cast<double>(counted), kept, 0.01 * kept) << compressor.report();
  }
}

// What is recomputed from probabilities that wait holds their codes once these are made.
TEST(CountedMemory, TheMeterCountsWhatWaitsAsItIsStored) {
  at::manual_seed(59);
  const at::Tensor scores = at::randn({4, 64, 64}).requires_grad_();
  const at::Tensor values = at::randn({4, 64, 16}).requires_grad_();
  Compressor compressor({.bits = 4});
  for (int step = 0; step < 3; ++step) {
    SavedBytes meter;
    const auto kept = static_cast<double>(allocated(
        [&] {
          const auto watch = meter.watch();
          return at::bmm(at::dropout(at::softmax(scores * 1.0, -1), 0.1, true), values * 1.0).sum();
        },
        &compressor));
    EXPECT_NEAR(static_cast<double>(meter.unique_bytes()), kept, 0.01 * kept) << step << '\n'
                                                                              << meter.explain();
  }
  const auto sites = compressor.sites();
  EXPECT_TRUE(std::ranges::any_of(sites, [](const auto& site) {
    return site.stored.recomputed_by == "dropout";
  })) << compressor.report();
}

TEST(CountedMemory, WhatIsLeftAloneIsListedWithTheReason) {
  const at::Tensor x = at::randn({64, 512}).requires_grad_();
  Compressor compressor({.bits = 2});
  {
    const CompressionScope scope(compressor);
    at::sin(at::sigmoid(x * 1.0)).sum();
  }
  const auto left = compressor.left_alone();
  ASSERT_EQ(left.size(), 1U) << compressor.report();
  EXPECT_EQ(left[0].operation, "aten::sigmoid");
  EXPECT_EQ(left[0].bytes, 64 * 512 * 4);
  EXPECT_THAT(compressor.report(), HasSubstr("a rule replaces it"));
  torch::nn::LSTM recurrent(torch::nn::LSTMOptions(64, 64));
  {
    const CompressionScope scope(compressor);
    recurrent->forward(at::randn({32, 16, 64}).requires_grad_() * 1.0);
  }
  EXPECT_THAT(compressor.report(), HasSubstr("oneDNN's layer reads a layout of its own"));
}

}  // namespace fewbit::counted_memory_test

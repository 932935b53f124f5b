// What backward decodes and comes back to, held until then: the gradients are the same, decoding is
// less, memory is bounded.
#include "compression/decoded_cache.hpp"

#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>

#include "fewbit/fewbit.hpp"
#include "tests/support/compression_model.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::decoded_cache_test {

using namespace session;
using namespace test;
using torch::autograd::grad;

/// With nothing behind the norms whose codes would tell of their inputs.
torch::nn::Sequential convolutions() {
  torch::nn::Sequential model;
  for (int i = 0; i < 4; ++i) {
    model->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 16, 3).padding(1)));
    model->push_back(torch::nn::BatchNorm2d(16));
  }
  return model;
}

/// Behind a layer whose output has 16 times as many elements.
torch::nn::Sequential shrinking_convolutions() {
  torch::nn::Sequential model;
  model->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 16, 1)));
  model->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 16, 4).stride(4)));
  const torch::nn::Sequential rest = convolutions();
  for (const auto& layer : *rest) model->push_back(layer);
  return model;
}

/// Calls of the thread that decode rotated codes, while it lives.
class DecodeCount {
 public:
  DecodeCount() {
    count = 0;
    handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(begins));
  }
  ~DecodeCount() { at::removeCallback(handle_); }
  DecodeCount(const DecodeCount&) = delete;
  DecodeCount& operator=(const DecodeCount&) = delete;
  static int value() { return count; }

 private:
  static std::unique_ptr<at::ObserverContext> begins(const at::RecordFunction& call) {
    count += std::string_view(call.name()) == "fewbit::rotated_decode" ? 1 : 0;
    return nullptr;
  }
  static thread_local int count;
  at::CallbackHandle handle_ = 0;
};

thread_local int DecodeCount::count = 0;

struct Step {
  at::Tensor gradients;
  int decoded;
};

/// The third step, all kinds of recomputation taken, of the same random numbers.
Step third_step(std::optional<int64_t> decoded_cache_bytes, torch::nn::Sequential& model,
                const at::Tensor& x) {
  Compressor compressor({.bits = 2, .decoded_cache_bytes = decoded_cache_bytes});
  compressor.recompute("norm", Recompute::always);
  at::manual_seed(7);
  for (int step = 0; step < 2; ++step) gradients(model, x, &compressor);
  const DecodeCount count;
  const at::Tensor result = gradients(model, x, &compressor);
  return {result, DecodeCount::value()};
}

TEST(DecodedCache, LeaveGradientsAsTheyAreAndDecodeOnce) {
  at::manual_seed(3);
  torch::nn::Sequential model = convolutions();
  const at::Tensor x = at::randn({8, 16, 16, 16});
  const Step plain = third_step(0, model, x);
  const Step held = third_step(int64_t{1} << 30, model, x);
  EXPECT_TRUE(at::equal(held.gradients, plain.gradients));
  // Each norm's input serves the norm and, by the norm, the layer behind.
  EXPECT_GE(plain.decoded, 7);
  EXPECT_LE(held.decoded, plain.decoded - 3);
  const int64_t of_one = x.nbytes();
  const Step of_two = third_step(2 * of_one, model, x);
  EXPECT_TRUE(at::equal(of_two.gradients, plain.gradients));
  EXPECT_LE(of_two.decoded, plain.decoded - 3);  // the latest are those that come back
  EXPECT_EQ(third_step(of_one / 2, model, x).decoded, plain.decoded);
  // All are as large as the largest.
  EXPECT_EQ(third_step(std::nullopt, model, x).decoded, plain.decoded);
}

TEST(DecodedCache, IsThereUnlessToldOtherwiseForWhatIsSmallBesideTheLargest) {
  at::manual_seed(6);
  torch::nn::Sequential model = shrinking_convolutions();
  const at::Tensor x = at::randn({8, 16, 64, 64});
  const Step plain = third_step(0, model, x);
  const Step held = third_step(std::nullopt, model, x);
  EXPECT_TRUE(at::equal(held.gradients, plain.gradients));
  EXPECT_LE(held.decoded, plain.decoded - 3);
}

TEST(DecodedCache, AGraphMayBeWalkedTwiceAndByThreads) {
  at::manual_seed(4);
  torch::nn::Sequential model = convolutions();
  const at::Tensor x = at::randn({8, 16, 16, 16});
  Compressor compressor({.bits = 2, .decoded_cache_bytes = int64_t{1} << 30});
  compressor.recompute("norm", Recompute::always);
  gradients(model, x, &compressor);
  at::Tensor loss;
  {
    const CompressionScope scope(compressor);
    loss = loss_of(model, x);
  }
  const at::Tensor first = flat(grad({loss}, model->parameters(), {}, true));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(
        [&] { EXPECT_TRUE(at::equal(flat(grad({loss}, model->parameters(), {}, true)), first)); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(at::equal(flat(grad({loss}, model->parameters())), first));
}

TEST(DecodedCache, RefusesBytesBelowZero) {
  EXPECT_THROW(Compressor({.decoded_cache_bytes = -1}), c10::Error);
}

/// A run of ones, that counts how often it is decoded.
class Ones final : public codecs::Encoded {
 public:
  at::Tensor decoded() const override {
    ++times;
    return at::ones({256});
  }
  at::TensorList tensors() const override { return {}; }
  mutable int times = 0;
};

/// Calls `use` while a gradient is computed.
template <class Use>
void in_backward(const Use& use) {
  const at::Tensor x = at::zeros({1}).requires_grad_();
  const at::Tensor y = x * 2.0;
  y.register_hook([&](const at::Tensor&) { use(); });
  y.backward();
}

TEST(DecodedCache, HoldFromTheFirstUseInBackwardToTheLast) {
  const auto ones = std::make_shared<Ones>();
  const auto held = std::make_shared<DecodedCache>(int64_t{1} << 20);
  auto run = holding(ones, held);
  const auto* key = run.get();
  auto other = run;
  run->decoded();
  EXPECT_FALSE(held->find(key).defined());  // of no backward pass
  in_backward([&] {
    run->decoded();
    EXPECT_TRUE(held->find(key).defined());
    run->decoded();
    EXPECT_EQ(ones->times, 2);
    other.reset();
    run->decoded();  // the last one
    EXPECT_FALSE(held->find(key).defined());
    EXPECT_EQ(ones->times, 2);
    run->decoded();
    EXPECT_EQ(ones->times, 3);
    EXPECT_FALSE(held->find(key).defined());
  });
}

TEST(DecodedCache, GoWithTheirOwners) {
  const auto held = std::make_shared<DecodedCache>(int64_t{1} << 20);
  auto run = holding(std::make_shared<Ones>(), held);
  const auto* key = run.get();
  auto other = run;
  in_backward([&] { run->decoded(); });
  EXPECT_TRUE(held->find(key).defined());
  run.reset();
  other.reset();
  EXPECT_FALSE(held->find(key).defined());
}

TEST(DecodedCache, WhatWasChangedInPlaceIsDecodedAgain) {
  const auto ones = std::make_shared<Ones>();
  const auto run = holding(ones, std::make_shared<DecodedCache>(int64_t{1} << 20));
  const auto other = run;
  in_backward([&] {
    run->decoded().as_strided({16, 16}, {16, 1}).add_(1.0);
    EXPECT_EQ(run->decoded().sum().item<double>(), 256.0);
    EXPECT_EQ(ones->times, 2);
  });
}

TEST(DecodedCache, AreUpToHalfOfTheLargestWhereNobodySays) {
  const auto held = std::make_shared<DecodedCache>(std::nullopt);
  const auto run = holding(std::make_shared<Ones>(), held);
  const auto other = run;
  const auto decodes_and_holds = [&] {
    bool holds = false;
    in_backward([&] {
      run->decoded();
      holds = held->find(run.get()).defined();
    });
    return holds;
  };
  EXPECT_FALSE(decodes_and_holds());
  held->note_coded(2 * 256 * 4 - 2);
  EXPECT_FALSE(decodes_and_holds());
  held->note_coded(2 * 256 * 4);
  held->note_coded(4);
  EXPECT_TRUE(decodes_and_holds());
}

TEST(DecodedCache, AreTheLatestUpToSoManyBytes) {
  const auto held = std::make_shared<DecodedCache>(2 * 256 * 4 + 8);
  std::vector<std::shared_ptr<const codecs::Encoded>> runs;
  for (int i = 0; i < 4; ++i) runs.push_back(holding(std::make_shared<Ones>(), held));
  const auto others = runs;
  in_backward([&] {
    for (const auto& run : runs) run->decoded();
  });
  EXPECT_FALSE(held->find(runs[0].get()).defined());
  EXPECT_FALSE(held->find(runs[1].get()).defined());
  EXPECT_TRUE(held->find(runs[2].get()).defined());
  EXPECT_TRUE(held->find(runs[3].get()).defined());
}

}  // namespace fewbit::decoded_cache_test

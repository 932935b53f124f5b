// Codes that leave memory between forward and backward: gradients are bit for bit those of codes
// that stay, in whatever order backward runs, and memory and file space come back.
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <malloc.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/transformercoder.h>
#include <unistd.h>

#include "fewbit/fewbit.hpp"
#include "tests/offload/support.hpp"
#include "tests/support/compression_model.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::offload_test {

using test::flat;
using torch::autograd::grad;

constexpr int64_t kWide = 192;
constexpr const char* kActivation = "fewbit::activation";

/// Layers whose codes are larger than what stays.
struct Model {
  std::vector<at::Tensor> weights;
  at::Tensor x;

  explicit Model(int layers = 4, int64_t batch = 256) {
    at::manual_seed(1);
    for (int i = 0; i < layers; ++i) {
      weights.push_back((at::randn({kWide, kWide}) / 12).requires_grad_());
    }
    x = at::randn({batch, kWide}).requires_grad_();
  }

  /// Of every kind that is recomputed or shared too.
  at::Tensor forward(Compressor& compressor) const {
    const CompressionScope scope(compressor);
    at::Tensor h = x * 1.0;
    for (const at::Tensor& weight : weights) {
      h = at::relu(at::linear(at::layer_norm(h, {kWide}), weight)) + h;
    }
    return h.square().mean();
  }

  at::Tensor gradient(Compressor& compressor) const {
    at::manual_seed(7);
    return flat(grad({forward(compressor)}, weights));
  }
};

CompressorOptions with(CompressorOptions options, bool offload) {
  options.offload = offload;
  return options;
}

std::vector<CompressorOptions> schemes() {
  return {{.bits = 2},
          {.bits = 2.5, .trellis = 4},
          {.bits = 2, .scheme = Scheme::group},
          {.bits = 2.5, .scheme = Scheme::actnn},
          {.scheme = Scheme::actnn, .level = 1},
          {.bits = 3, .scheme = Scheme::gact},
          {.bits = 2, .scheme = Scheme::division},
          {.bits = 4, .scheme = Scheme::blpa}};
}

TEST(Offload, GradientsAreThoseOfCodesThatStay) {
  const Model model;
  for (const CompressorOptions& options : schemes()) {
    Compressor plain(with(options, false)), offloading(with(options, true));
    for (int step = 0; step < 3; ++step) {
      const at::Tensor expected = model.gradient(plain);
      EXPECT_TRUE(at::equal(model.gradient(offloading), expected)) << offloading.report();
    }
    int64_t before = 0, after = 0, away = 0;
    for (const Compressor::Site& site : plain.sites()) before += site.bytes_after;
    for (const Compressor::Site& site : offloading.sites()) {
      after += site.bytes_after;
      away += site.bytes_offloaded;
    }
    EXPECT_EQ(after + away, before);
    EXPECT_LT(after, before / 10) << offloading.report();
  }
}

TEST(Offload, OtherLayersHaveTheirGradientsToo) {
  at::manual_seed(3);
  torch::nn::Conv2d first(torch::nn::Conv2dOptions(3, 16, 3).padding(1)), second(16, 16, 3);
  torch::nn::BatchNorm2d norm(16);
  torch::nn::TransformerEncoderLayer encoder(
      torch::nn::TransformerEncoderLayerOptions(144, 4).dim_feedforward(256).dropout(0.2));
  std::vector<at::Tensor> parameters;
  for (const auto& module : std::initializer_list<std::shared_ptr<torch::nn::Module>>{
           first.ptr(), second.ptr(), norm.ptr(), encoder.ptr()}) {
    for (const at::Tensor& parameter : module->parameters()) parameters.push_back(parameter);
  }
  const at::Tensor images = at::randn({8, 3, 28, 28});
  const auto gradient = [&](Compressor& compressor) {
    at::manual_seed(4);
    at::Tensor loss;
    {
      const CompressionScope scope(compressor);
      at::Tensor x = at::max_pool2d(at::relu(norm(first(images))), 2);
      x = encoder(at::dropout(second(x), 0.1, true).flatten(2));
      loss = at::log_softmax(x.flatten(1), 1).select(1, 0).mean();
    }
    return flat(grad({loss}, parameters));
  };
  for (const Recompute linear : {Recompute::never, Recompute::always}) {
    Compressor plain({.bits = 2}), offloading({.bits = 2, .offload = true});
    plain.recompute("linear", linear).rule("aten::convolution", at::kBFloat16);
    offloading.recompute("linear", linear).rule("aten::convolution", at::kBFloat16);
    for (int step = 0; step < 4; ++step) {
      const at::Tensor expected = gradient(plain);
      EXPECT_TRUE(at::equal(gradient(offloading), expected)) << offloading.report();
    }
  }
}

TEST(Offload, TheMeterSeesWhatStays) {
  const Model model;
  const auto kept = [&](bool offload) {
    Compressor compressor({.bits = 2, .offload = offload});
    SavedBytes meter;
    at::Tensor loss;
    {
      const auto watch = meter.watch();
      loss = model.forward(compressor);
    }
    int64_t after = 0;
    for (const Compressor::Site& site : compressor.sites()) after += site.bytes_offloaded;
    return std::pair(meter.unique_bytes(), after);
  };
  const auto [stays, none] = kept(false);
  const auto [rest, away] = kept(true);
  EXPECT_EQ(none, 0);
  EXPECT_EQ(rest + away, stays);
  EXPECT_GT(away, stays / 2);
}

// relu's too, by which its output is computed again.
TEST(Offload, CodesOfActivationsLeave) {
  const Model model;
  Compressor compressor({.bits = 2, .offload = true});
  for (int step = 0; step < 3; ++step) model.gradient(compressor);
  int64_t activations = 0;
  for (const Compressor::Site& site : compressor.sites()) {
    if (site.operation != kActivation) continue;
    ++activations;
    EXPECT_EQ(site.bytes_after, 0) << compressor.report();
    EXPECT_EQ(site.bytes_offloaded, 256 * kWide / 8) << compressor.report();
  }
  EXPECT_EQ(activations, 4) << compressor.report();
}

/// Of this process, in memory.
int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// 1 MiB of codes each; the file's thread has up to 64 MiB of them.
TEST(Offload, MemoryIsReallyFree) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  mallopt(M_MMAP_THRESHOLD, 1 << 16);  // what is freed leaves the process
  const auto grown_by = [](bool offload) {
    const at::Tensor weight = at::randn({64, 16}).requires_grad_();
    const at::Tensor x = at::randn({1 << 14, 64}).requires_grad_();
    Compressor compressor({.bits = 8, .offload = offload});
    std::vector<at::Tensor> graphs;
    const int64_t before = resident_bytes();
    for (int i = 0; i < 160; ++i) {
      const CompressionScope scope(compressor);
      graphs.push_back(at::mm(at::sin(x), weight).sum());
    }
    return resident_bytes() - before;
  };
  EXPECT_LT(grown_by(true), 90 * kMiB);
  EXPECT_GT(grown_by(false), 150 * kMiB);
}

TEST(Offload, BackwardRunsInAnyOrderAndTwice) {
  Model model;
  const auto run = [&](bool offload, bool forward_order) {
    Compressor compressor({.bits = 2, .offload = offload});
    std::vector<at::Tensor> losses;
    at::manual_seed(8);
    {
      const CompressionScope scope(compressor);
      for (const at::Tensor& weight : model.weights) {
        losses.push_back(at::mm(at::mul(model.x, weight.detach().sum()), weight).square().mean());
      }
    }
    if (!forward_order) std::ranges::reverse(losses);
    std::vector<at::Tensor> gradients;
    for (int pass = 0; pass < 2; ++pass) {
      for (size_t i = 0; i < losses.size(); ++i) {
        const size_t weight = forward_order ? i : losses.size() - 1 - i;
        gradients.push_back(grad({losses[i]}, {model.weights[weight]}, {}, pass == 0)[0]);
      }
    }
    return flat(gradients);
  };
  for (const bool forward_order : {false, true}) {
    EXPECT_TRUE(at::equal(run(true, forward_order), run(false, forward_order)));
  }
}

TEST(Offload, OtherThreadsRunBackwardAndForward) {
  const Model model;
  Compressor plain({.bits = 2}), offloading({.bits = 2, .offload = true});
  const at::Tensor expected = model.gradient(plain);
  at::manual_seed(7);
  const at::Tensor loss = model.forward(offloading);
  at::Tensor found;
  std::thread([&] { found = flat(grad({loss}, model.weights)); }).join();
  EXPECT_TRUE(at::equal(found, expected));
  Compressor compressor({.bits = 8, .offload = true});
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int step = 0; step < 4; ++step) {
        const at::Tensor one = flat(grad({model.forward(compressor)}, model.weights));
        wrong += !(test::distance(one, expected) < 0.5);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

/// Of the one file that this process has open and that has no name: its bytes.
int64_t unnamed_file_bytes() {
  int64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(entry, error).string();
    if (error || target.find("(deleted)") == std::string::npos) continue;
    if (target.find(std::filesystem::temp_directory_path().string()) != 0) continue;
    const auto size = std::filesystem::file_size(entry, error);
    if (!error) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

TEST(Offload, TheFileDoesNotGrowWithSteps) {
  const Model model;
  Compressor compressor({.bits = 2, .offload = true});
  int64_t first = 0;
  for (int step = 0; step < 15; ++step) {
    model.forward(compressor);  // a graph that is dropped
    model.gradient(compressor);
    if (step == 3) first = unnamed_file_bytes();
  }
  EXPECT_GT(first, 20000);
  EXPECT_LE(unnamed_file_bytes(), 2 * first);
}

TEST(Offload, NansAreWhereTheyWereWithoutIt) {
  Model model;
  {
    const at::NoGradGuard no_grad;
    model.x[3][5] = std::numeric_limits<float>::quiet_NaN();
    model.x[9].fill_(std::numeric_limits<float>::infinity());
  }
  for (const Scheme scheme : {Scheme::rotated, Scheme::actnn}) {
    Compressor plain({.scheme = scheme}), offloading({.scheme = scheme, .offload = true});
    const at::Tensor expected = model.gradient(plain), found = model.gradient(offloading);
    EXPECT_TRUE(expected.isnan().any().item<bool>());
    EXPECT_TRUE(at::equal(found.view(at::kInt), expected.view(at::kInt)));
  }
}

TEST(Offload, AForwardThatThrowsLeavesNothing) {
  const Model model;
  Compressor compressor({.bits = 2, .offload = true});
  Compressor plain({.bits = 2});
  for (int step = 0; step < 3; ++step) {
    EXPECT_THROW(
        {
          const CompressionScope scope(compressor);
          const at::Tensor h = at::mm(model.x * 1.0, model.weights[0]);
          at::mm(h, at::ones({3, 3}));
        },
        c10::Error);
  }
  Compressor fresh({.bits = 2, .offload = true});
  EXPECT_TRUE(at::equal(model.gradient(fresh), model.gradient(plain)));
  EXPECT_TRUE(model.gradient(compressor).isfinite().all().item<bool>());
}

TEST(Offload, AFullDiskIsReported) {
  const Model model;
  Compressor plain({.bits = 2}), offloading({.bits = 2, .offload = true});
  const std::string folder = std::filesystem::temp_directory_path().string();
  {
    const offload::FullDisk full(4096);
    std::string refusal = "accepted";
    for (int step = 0; step < 100 && refusal == "accepted"; ++step) {
      Compressor again({.bits = 2, .offload = true});
      refusal = test::refusal([&] { model.gradient(again); });
    }
    EXPECT_EQ(refusal, "fewbit: what is to leave memory cannot be written to a file in " + folder +
                           ": File too large; it is still there (TMPDIR names another folder)");
  }
  EXPECT_TRUE(at::equal(model.gradient(offloading), model.gradient(plain)));
}

TEST(Offload, AFullDiskCostsNoTensor) {
  const Model model;
  const auto loss_with = [&](bool offload) {
    Compressor compressor({.bits = 2, .offload = offload});
    at::manual_seed(7);
    const CompressionScope scope(compressor);
    return at::mm(model.x * 1.0, model.weights[0]).sum();  // keeps one tensor
  };
  const at::Tensor expected = grad({loss_with(false)}, {model.weights[0]})[0];
  const offload::FullDisk full(4096);
  const at::Tensor loss = loss_with(true);
  at::Tensor found;
  for (int attempt = 0; attempt < 2 && !found.defined(); ++attempt) {
    test::refusal([&] { found = grad({loss}, {model.weights[0]}, {}, true)[0]; });
  }
  ASSERT_TRUE(found.defined());
  EXPECT_TRUE(at::equal(found, expected));
}

TEST(Offload, AFolderThatIsNotThereIsNamed) {
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", "/no/such/folder", 1);
  const Model model;
  Compressor compressor({.offload = true});
  EXPECT_NE(test::refusal([&] { model.forward(compressor); }).find("/no/such/folder"),
            std::string::npos);
  before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1);
  EXPECT_EQ(test::refusal([&] { model.gradient(compressor); }), "accepted");
}

TEST(Offload, GoesOnFromAFileBitForBit) {
  const Model model;
  const std::string path = testing::TempDir() + "fewbit_swap_places.txt";
  const CompressorOptions options = {.bits = 2.5, .offload = true};
  Compressor whole(options), resumed(options), plain({.bits = 2.5});
  for (int step = 0; step < 3; ++step) model.gradient(whole);
  whole.save(path);
  resumed.load(path);
  plain.load(path);
  const at::Tensor expected = model.gradient(whole);
  EXPECT_TRUE(at::equal(model.gradient(resumed), expected));
  EXPECT_TRUE(at::equal(model.gradient(plain), expected));
}

TEST(Offload, CheckpointsAndSecondDerivativesGoOn) {
  const Model model;
  const auto gradient = [&](bool offload) {
    Compressor compressor({.bits = 2, .offload = offload});
    at::manual_seed(5);
    at::Tensor loss;
    {
      const CompressionScope scope(compressor);
      at::Tensor h = model.x * 1.0;
      for (const at::Tensor& weight : model.weights) {
        h = checkpoint([&](const at::Tensor& y) { return at::mm(at::sin(y), weight); }, h);
      }
      loss = h.square().mean();
    }
    return flat(grad({loss}, model.weights));
  };
  EXPECT_TRUE(at::equal(gradient(true), gradient(false)));
  const auto second = [&](bool offload) {
    Compressor compressor({.bits = 2, .offload = offload});
    at::manual_seed(6);
    at::Tensor y;
    {
      const CompressionScope scope(compressor);
      y = at::mm(model.x * 1.0, model.weights[0]).square().sum();
    }
    const at::Tensor first = grad({y}, {model.x}, {}, true, true)[0];
    return grad({first.square().sum()}, {model.weights[0]})[0];
  };
  EXPECT_TRUE(at::equal(second(true), second(false)));
}

TEST(Offload, LevelsFourAndFiveAreLevelThreeOffloaded) {
  const Model model;
  Compressor three({.scheme = Scheme::actnn, .level = 3});
  const at::Tensor expected = model.gradient(three);
  for (const int level : {4, 5}) {
    Compressor compressor({.scheme = Scheme::actnn, .level = level});
    EXPECT_TRUE(at::equal(model.gradient(compressor), expected));
    int64_t after = 0, away = 0;
    for (const Compressor::Site& site : compressor.sites()) {
      after += site.bytes_after;
      away += site.bytes_offloaded;
    }
    EXPECT_GT(away, 8 * after) << compressor.report();
    EXPECT_NE(compressor.report().find("  offloaded  "), std::string::npos);
  }
  EXPECT_EQ(three.report().find("  away  "), std::string::npos);
}

}  // namespace fewbit::offload_test

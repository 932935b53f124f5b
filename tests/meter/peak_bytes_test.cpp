// Peaks of a step: of all that torch's allocator hands out, whichever thread gives it back.
#include "fewbit/peak_bytes.hpp"

#include <thread>

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <torch/csrc/autograd/profiler.h>

#include "fewbit/compressor.hpp"
#include "tests/support/refusal.hpp"
#include "text/table.hpp"

namespace fewbit::peak_bytes_test {

using testing::HasSubstr;
using testing::Not;

constexpr int64_t kFloats = 1 << 18;
constexpr int64_t kBytes = 4 * kFloats;

at::Tensor memory(int64_t count = 1) {
  return at::empty({count * kFloats});
}

TEST(PeakBytes, CountsWhatIsHeldAtOnce) {
  at::Tensor kept = memory(5), older = memory(1);
  EXPECT_EQ(peak_bytes([] {}), 0);
  EXPECT_EQ(peak_bytes([] { memory(3); }), 3 * kBytes);
  EXPECT_EQ(peak_bytes([] {
              memory(3);
              memory(2);
            }),
            3 * kBytes);
  EXPECT_EQ(peak_bytes([&] {
              const at::Tensor a = memory(2);
              kept = memory(1);  // before the five go
            }),
            3 * kBytes);
  EXPECT_EQ(peak_bytes([&] {
              kept = at::Tensor();  // its size was seen
              memory(1);
            }),
            0);
  EXPECT_EQ(peak_bytes([&] {
              older = at::Tensor();  // its size was not
              memory(1);
            }),
            kBytes);
}

TEST(PeakBytes, NestsAndCountsOneDevice) {
  int64_t inner = 0;
  const int64_t outer = peak_bytes([&] {
    const at::Tensor a = memory(1);
    inner = peak_bytes([] { memory(2); });
  });
  EXPECT_EQ(inner, 2 * kBytes);
  EXPECT_EQ(outer, 3 * kBytes);
  EXPECT_EQ(peak_bytes([] { memory(1); }, at::Device(at::kCUDA, 0)), 0);
  EXPECT_EQ(peak_bytes([] { memory(1); }, at::Device(at::kCPU, 0)), kBytes);
}

TEST(PeakBytes, HoldsGradientsOfBackward) {
  const at::Tensor weight = at::ones({kFloats}).requires_grad_();
  // The product's result and what its sum spreads, or that and the gradient.
  const int64_t peak = peak_bytes([&] { (weight * weight).sum().backward(); });
  EXPECT_GE(peak, 2 * kBytes);
  EXPECT_LE(peak, 3 * kBytes + 4096);
}

// The thread that writes gives memory back, and reads ahead.
TEST(PeakBytes, SeesWhatAnotherThreadGivesBack) {
  constexpr int kLayers = 24;
  const auto step = [](const CompressorOptions& options) {
    Compressor compressor(options);
    compressor.offload_exact("pow");
    at::Tensor x = at::randn({kFloats}).requires_grad_();
    at::Tensor y = x;
    {
      const CompressionScope scope(compressor);
      for (int i = 0; i < kLayers; ++i) y = y.pow(2.0) * 0.5;
      y = y.sum();
    }
    y.backward();
  };
  const int64_t peak = peak_bytes([&] { step({.offload = true}); });
  EXPECT_LT(peak, 12 * kBytes);
  EXPECT_GT(peak, 2 * kBytes);
}

TEST(PeakBytes, IsNamedByTheReportOfWhoCodedInTheStep) {
  Compressor compressor, other;
  const at::Tensor x = at::randn({kFloats}).requires_grad_();
  const auto step = [&] {
    const CompressionScope scope(compressor);
    x.pow(2.0).sum().backward();
  };
  step();
  const std::string line = "peak of the latest step that peak_bytes measured: ";
  EXPECT_THAT(compressor.report(), Not(HasSubstr(line)));
  peak_bytes([&] { peak_bytes(step); });  // of the inner one
  const int64_t peak = peak_bytes(step);
  step();
  EXPECT_THAT(compressor.report(), HasSubstr(line + session::grouped(peak) + " bytes\n"));
  EXPECT_THAT(other.report(), Not(HasSubstr(line)));
}

TEST(PeakBytes, RefusesWhileAProfilerRecords) {
  using torch::autograd::profiler::ProfilerConfig;
  using torch::autograd::profiler::ProfilerState;
  torch::autograd::profiler::enableProfilerLegacy(ProfilerConfig(ProfilerState::CPU));
  EXPECT_THAT(
      test::refusal([] { peak_bytes([] {}); }),
      HasSubstr("fewbit::peak_bytes: a torch profiler records this thread, accepted: none"));
  torch::autograd::profiler::disableProfilerLegacy();
  EXPECT_THROW(peak_bytes([] { throw std::runtime_error("mine"); }), std::runtime_error);
  EXPECT_EQ(peak_bytes([] { memory(1); }), kBytes);
}

}  // namespace fewbit::peak_bytes_test

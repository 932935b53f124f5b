#include "meter/live_bytes.hpp"

#include <atomic>

#include <c10/util/Exception.h>
#include <torch/csrc/profiler/orchestration/observer.h>

#include "fewbit/peak_bytes.hpp"
#include "trace/step_peak.hpp"

namespace fewbit {

namespace session {

namespace {

using torch::profiler::impl::ActiveProfilerType;
using torch::profiler::impl::ProfilerConfig;
using torch::profiler::impl::ProfilerState;
using torch::profiler::impl::ProfilerStateBase;

constexpr auto kReports = c10::DebugInfoKind::PROFILER_STATE;

/// Torch takes whatever is of this kind for a profiler: this one is disabled but for memory.
ProfilerConfig memory_alone() {
  return ProfilerConfig(ProfilerState::Disabled, /*report_input_shapes=*/false,
                        /*profile_memory=*/true);
}

}  // namespace

class LiveBytes::Reports final : public ProfilerStateBase {
 public:
  explicit Reports(c10::Device device)
      : ProfilerStateBase(memory_alone()),
        device_(device),
        around_(c10::ThreadLocalDebugInfo::current()),
        outer_(
            static_cast<c10::MemoryReportingInfoBase*>(c10::ThreadLocalDebugInfo::get(kReports))) {}

  void reportMemoryUsage(void* address, int64_t bytes, size_t allocated, size_t reserved,
                         c10::Device device) override {
    if (outer_ != nullptr) outer_->reportMemoryUsage(address, bytes, allocated, reserved, device);
    if (device.type() != device_.type()) return;
    if (device_.has_index() && device.index() != device_.index()) return;
    const int64_t now = live_ += bytes;
    int64_t most = peak_;
    while (most < now && !peak_.compare_exchange_weak(most, now)) {
    }
  }
  ActiveProfilerType profilerType() override { return ActiveProfilerType::NONE; }

  int64_t now() const { return live_; }
  int64_t peak() const { return peak_; }

 private:
  const c10::Device device_;
  const std::shared_ptr<c10::ThreadLocalDebugInfo> around_;  ///< holds the outer one
  c10::MemoryReportingInfoBase* const outer_;
  std::atomic<int64_t> live_ = 0, peak_ = 0;
};

namespace {

/// CPU memory is reported without an index.
c10::Device reported(c10::Device device) {
  return device.is_cpu() ? c10::Device(c10::kCPU) : device;
}

}  // namespace

LiveBytes::LiveBytes(const char* caller, c10::Device device)
    : reports_([&] {
        TORCH_CHECK(!torch::profiler::impl::profilerEnabled(), caller,
                    ": a torch profiler records this thread, accepted: none");
        return std::make_shared<Reports>(reported(device));
      }()),
      guard_(kReports, reports_) {}

int64_t LiveBytes::now() const {
  return reports_->now();
}

int64_t LiveBytes::peak() const {
  return reports_->peak();
}

}  // namespace session

std::int64_t peak_bytes(const std::function<void()>& step, at::Device device) {
  const session::LiveBytes live("fewbit::peak_bytes", device);
  const session::StepPeak asked;
  step();
  asked.tell(live.peak());
  return live.peak();
}

}  // namespace fewbit

#include "planner/step_profiler.hpp"

#include <chrono>
#include <utility>

#include <c10/core/impl/VirtualGuardImpl.h>

#include "compression/compression.hpp"
#include "planner/measured_step.hpp"

namespace fewbit::session {

namespace {

double seconds_at(c10::Device device) {
  if (device.type() != c10::kCPU) {
    c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// While it lives.
class Surveying {
 public:
  Surveying(Compression& compression, std::shared_ptr<StepProfiler> survey)
      : compression_(compression) {
    compression_.observe_with(std::move(survey));
  }
  ~Surveying() { compression_.observe_with(nullptr); }
  Surveying(const Surveying&) = delete;
  Surveying& operator=(const Surveying&) = delete;

 private:
  Compression& compression_;
};

/// A stored tensor, which does not change while a step is profiled.
class Timed final : public PackedTensor {
 public:
  Timed(std::shared_ptr<StepProfiler> survey, SiteKey site, c10::Device device,
        std::unique_ptr<const PackedTensor> kept)
      : survey_(std::move(survey)),
        site_(std::move(site)),
        device_(device),
        kept_(std::move(kept)) {}

  at::Tensor restored() const override {
    const double begin = seconds_at(device_);
    at::Tensor tensor = kept_->restored();
    survey_->add(site_, seconds_at(device_) - begin);
    return tensor;
  }
  at::TensorList tensors() const override { return kept_->tensors(); }

 private:
  std::shared_ptr<StepProfiler> survey_;
  SiteKey site_;
  c10::Device device_;
  std::unique_ptr<const PackedTensor> kept_;
};

}  // namespace

double StepProfiler::now(c10::Device device) const {
  return seconds_at(device);
}

std::unique_ptr<const PackedTensor> StepProfiler::kept(const SiteKey& site, const SaveEvent& event,
                                                       c10::Device device, double begin,
                                                       std::unique_ptr<const PackedTensor> kept) {
  const double seconds = seconds_at(device) - begin;
  const std::lock_guard lock(mutex_);
  times_.moments.push_back(
      {site, begin - start_ - keeping_, event.memory.address(), event.memory.bytes, 0});
  times_.seconds[site] += seconds;
  keeping_ += seconds;
  if (!kept) return nullptr;
  return std::make_unique<Timed>(shared_from_this(), site, device, std::move(kept));
}

void StepProfiler::leave(const Memory& memory) {
  const std::lock_guard lock(mutex_);
  if (times_.moments.empty() || !left_.insert(memory.address()).second) return;
  times_.moments.back().left_bytes += memory.bytes;
}

void StepProfiler::add(const SiteKey& site, double seconds) {
  const std::lock_guard lock(mutex_);
  times_.seconds[site] += seconds;
  restoring_ += seconds;
}

StepProfiler::Times StepProfiler::of(Compressor& compressor, Compression& compression,
                                     const Forward& forward) {
  const auto survey = std::make_shared<StepProfiler>();
  const Surveying surveying(compression, survey);
  survey->start_ = seconds_at(c10::kCPU);
  at::Tensor result;
  {
    const CompressionScope scope(compressor);
    result = forward();
  }
  const double forwarded = seconds_at(home_of(result));
  run_backward(result);
  const double end = seconds_at(home_of(result));
  const std::lock_guard lock(survey->mutex_);
  survey->times_.forward = forwarded - survey->start_ - survey->keeping_;
  survey->times_.step = end - survey->start_ - survey->keeping_ - survey->restoring_;
  return std::move(survey->times_);
}

double StepProfiler::step_seconds(const Forward& forward) {
  const double start = seconds_at(c10::kCPU);
  const at::Tensor result = forward();
  run_backward(result);
  return seconds_at(home_of(result)) - start;
}

}  // namespace fewbit::session

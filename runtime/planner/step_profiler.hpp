#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include <ATen/core/Tensor.h>

#include "compression/save_observer.hpp"
#include "fewbit/compressor.hpp"

namespace fewbit::session {

class Compression;

/// How long it takes to store what a forward saves, site by site, and to bring it back.
class StepProfiler final : public SaveObserver, public std::enable_shared_from_this<StepProfiler> {
 public:
  using Forward = std::function<at::Tensor()>;

  /// When a site saved: how long the forward had run then, time to store left out.
  struct Moment {
    SiteKey site;
    double seconds;
    const void* memory;  ///< that it saved of
    int64_t bytes;       ///< of all of that
    int64_t left_bytes;  ///< of what was saved from then to the next moment outside every site
  };
  struct Times {
    std::map<SiteKey, double> seconds;
    std::vector<Moment> moments;
    double forward = 0.0;  ///< without what the sites take
    double step = 0.0;     ///< with backward, and without it too
  };

  /// Of a step in a scope of the compressor, whose own the compression is. Measures no errors.
  static Times of(Compressor& compressor, Compression& compression, const Forward& forward);
  /// Seconds of a step without one.
  static double step_seconds(const Forward& forward);

  double now(c10::Device device) const override;
  /// What is in its place then is timed when it is brought back.
  std::unique_ptr<const PackedTensor> kept(const SiteKey& site, const SaveEvent& event,
                                           c10::Device device, double begin,
                                           std::unique_ptr<const PackedTensor> kept) override;
  void leave(const Memory& memory) override;
  /// It took so long to bring it back. From any thread.
  void add(const SiteKey& site, double seconds);

 private:
  std::mutex mutex_;
  double start_ = 0.0;
  double keeping_ = 0.0;
  double restoring_ = 0.0;
  Times times_;
  std::set<const void*> left_;  ///< memory, which lives until backward
};

}  // namespace fewbit::session

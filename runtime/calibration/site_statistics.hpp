#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include "fewbit/nn/observed.hpp"
#include "table/table.hpp"

namespace fewbit::session {

/// Running sums over the inputs of one activation, held on the inputs' device. Thread-safe.
///
/// Looks at an input piece by piece: a few per cent of its memory are in use in addition to it.
class SiteStatistics : public nn::InputObserver {
 public:
  /// Inputs beyond +-kReach, the range of 16-bit floats, count as kReach.
  static constexpr float kReach = 65536.0F;

  void observe(const at::Tensor& x) override;
  /// What is observed from now on does not count.
  void stop();

  int64_t elements() const;

  /// What was seen as a solver's weight: the histogram without empty ends, and one unit per
  /// channel. Synchronises. Only when elements() > 0.
  solver::WeightSpec weight() const;

 private:
  /// Of one stream: another one's sums would be a race on the device.
  struct Sums {
    c10::Stream stream;
    at::Tensor counts;        ///< int64, one per bin
    at::Tensor values;        ///< float64 [channels]
    at::Tensor squares;       ///< float64 [channels]
    int64_t per_channel = 0;  ///< elements in each
  };

  Sums& sums_for(const at::Tensor& x, int64_t channels);
  std::vector<double> counts() const;
  std::vector<solver::UnitSpec> units() const;

  mutable std::mutex mutex_;
  bool stopped_ = false;
  int64_t elements_ = 0;
  int64_t channels_ = 0;  ///< of the last input; sums of inputs of other widths are dropped
  std::vector<Sums> sums_;
};

}  // namespace fewbit::session

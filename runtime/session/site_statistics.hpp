#pragma once

#include <ATen/core/Tensor.h>

#include "fewbit/nn/few_bit_module.hpp"
#include "table/table.hpp"

namespace fewbit::session {

/// Running sums over the inputs of one activation, kept on the inputs' device.
class SiteStatistics : public nn::InputObserver {
 public:
  /// Inputs beyond +-kReach count as kReach: every derivative is near its limit there.
  static constexpr double kReach = 16.0;
  static constexpr int64_t kBins = 4096;

  void observe(const at::Tensor& x) override;

  int64_t elements() const { return elements_; }

  /// What was seen as a solver's weight: the histogram without empty ends, and one unit per
  /// channel. Synchronises. Only when elements() > 0.
  solver::WeightSpec weight() const;

 private:
  void resize(const at::Tensor& x, int64_t channels);

  int64_t elements_ = 0;
  at::Tensor counts_;   ///< float64 [kBins]
  at::Tensor sums_;     ///< float64 [channels]
  at::Tensor squares_;  ///< float64 [channels]
  double per_channel_ = 0.0;
};

}  // namespace fewbit::session

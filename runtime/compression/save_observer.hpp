#pragma once

#include <memory>

#include <ATen/core/Tensor.h>

#include "compression/operators/site_key.hpp"
#include "trace/saved_tensors.hpp"

namespace fewbit::session {

/// Told of all that a forward saves and what is stored of it. While there is one nothing waits and
/// no errors are measured, so that each site takes the time that it takes.
class SaveObserver {
 public:
  virtual ~SaveObserver() = default;
  /// Seconds of a clock, once the device has done what it was told to.
  virtual double now(c10::Device device) const = 0;
  /// A tensor was stored from `begin` until now, as it is where null. Returns what stands in its
  /// place.
  virtual std::unique_ptr<const PackedTensor> kept(const SiteKey& site, const SaveEvent& event,
                                                   c10::Device device, double begin,
                                                   std::unique_ptr<const PackedTensor> kept) = 0;
  /// What is no parameter was saved outside every site.
  virtual void leave(const Memory& memory) = 0;
};

}  // namespace fewbit::session

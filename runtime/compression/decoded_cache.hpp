#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include "codecs/codec.hpp"

namespace fewbit::session {

/// Runs that backward passes decoded and come back to: the latest, up to so many bytes.
/// Thread-safe.
class DecodedCache {
 public:
  /// most_bytes: none: half of the largest tensor that was coded.
  explicit DecodedCache(std::optional<int64_t> most_bytes)
      : follows_largest_(!most_bytes), most_bytes_(most_bytes.value_or(0)) {}

  /// Of a tensor, as it is coded.
  void note_coded(int64_t bytes) { hold_at_least(bytes / 2); }
  /// Unless it was said how many bytes.
  void hold_at_least(int64_t bytes);

  /// Undefined where it is not held, was changed since, or belongs to another stream of the device.
  at::Tensor find(const codecs::Encoded* run) const;
  void add(const codecs::Encoded* run, const at::Tensor& decoded);
  void drop(const codecs::Encoded* run);

 private:
  struct Held {
    const codecs::Encoded* run;
    at::Tensor decoded;
    int64_t version;
    c10::Stream stream;
  };

  /// With the lock held. To be freed without it.
  void drop(const codecs::Encoded* run, std::list<Held>& dropped);
  void drop_oldest(std::list<Held>& dropped);

  const bool follows_largest_;
  mutable std::mutex mutex_;
  int64_t most_bytes_;
  std::list<Held> held_;  ///< the latest first
  int64_t bytes_ = 0;
};

/// The run, which `held`, unless null, holds decoded from its first use in a backward pass to its
/// last. stream: whose memory its codes are in, which others may decode too; none on a CPU.
std::shared_ptr<const codecs::Encoded> holding(std::shared_ptr<const codecs::Encoded> run,
                                               std::shared_ptr<DecodedCache> held,
                                               std::optional<c10::Stream> stream = {});

}  // namespace fewbit::session

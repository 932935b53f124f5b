#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include <ATen/core/Tensor.h>

#include "codecs/codec.hpp"

namespace fewbit::session {

/// A run that waits to be coded, and is held as it is until then. Thread-safe.
class LateRun final : public codecs::Encoded {
 public:
  /// run: dense, not to be changed while it waits.
  explicit LateRun(const at::Tensor& run);

  /// As long as it is as it was: a copy. Throws c10::Error where the run was changed.
  at::Tensor decoded() const override;
  at::TensorList tensors() const override;

  bool is_settled() const;
  /// From now on these stand for the run, which is let go; where null it stays as it is. Once.
  void settle(std::shared_ptr<const codecs::Encoded> codes);
  /// To be called then.
  void when_settled(std::function<void()> tell);

 private:
  mutable std::mutex mutex_;
  at::Tensor run_;  ///< flat; undefined once it is coded
  int64_t version_;
  std::shared_ptr<const codecs::Encoded> codes_;
  bool is_settled_ = false;
  std::function<void()> tell_;
};

}  // namespace fewbit::session

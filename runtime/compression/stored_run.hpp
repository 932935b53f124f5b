#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <ATen/core/Tensor.h>

#include "compression/recompute/changing_run.hpp"

namespace fewbit::session {

/// What is stored in the place of a memory's elements, and gives way to the memory.
class StandIn {
 public:
  virtual ~StandIn() = default;
  virtual at::TensorList tensors() const = 0;
  /// Whether it does not wait to be coded.
  virtual bool is_settled() const = 0;
  /// From now on what the view shows is held: the same elements.
  virtual void hold(const at::Tensor& view) = 0;
  virtual void forget_listeners() = 0;
};

/// A run of elements in codes, or as it is: while it waits to be coded, and where others hold its
/// memory anyway. Thread-safe.
class StoredRun final : public ChangingRun, public StandIn {
 public:
  explicit StoredRun(std::shared_ptr<const codecs::Encoded> codes);
  /// Waits to be coded. Holds what the view shows, which is not to be changed.
  explicit StoredRun(const at::Tensor& view);

  /// Throws c10::Error where what is held as it is was changed.
  at::Tensor decoded() const override;
  bool has_parts() const override;
  at::Tensor decoded(int64_t begin, int64_t end) const override;
  at::TensorList tensors() const override;

  bool is_settled() const override;
  /// Whether what is held as it is was changed since, in place.
  bool has_changed() const;
  /// Ends the waiting: from now on these stand for the run. Null: it stays as it is.
  void settle(std::shared_ptr<const codecs::Encoded> codes);
  /// The same by what gives the elements exactly.
  void settle_exactly(std::shared_ptr<const codecs::Encoded> numbers);
  void hold(const at::Tensor& view) override;
  /// The same for the view that it was made of. False where that was changed meanwhile, or where
  /// others give the elements exactly.
  bool hold_again(const at::Tensor& view);

  /// Until listeners are forgotten.
  void when_changed(const std::function<void()>& tell) const override;
  void forget_listeners() override;
  /// What the codes are computed from has changed.
  void tell() const;

 private:
  struct Held {
    std::shared_ptr<const codecs::Encoded> codes;  ///< null: it is held as it is,
    at::Tensor view;                               ///< by this
  };
  Held held() const;
  /// Flat, what is held as it is.
  at::Tensor unchanged(const at::Tensor& view) const;

  mutable std::mutex mutex_;
  std::shared_ptr<const codecs::Encoded> codes_;  ///< null: it is held as it is,
  at::Tensor view_;                               ///< by this
  int64_t version_ = 0;                           ///< of the view
  bool is_settled_ = true;
  bool is_exact_ = false;  ///< by codes
  mutable std::vector<std::function<void()>> listeners_;
};

}  // namespace fewbit::session

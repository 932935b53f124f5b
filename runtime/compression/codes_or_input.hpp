#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include <ATen/core/Tensor.h>

#include "compression/stored_run.hpp"
#include "trace/saved_tensors.hpp"

namespace fewbit::session {

/// An activation's codes, or its input in their stead. Thread-safe.
class CodesOrInput final : public StandIn {
 public:
  explicit CodesOrInput(std::unique_ptr<const PackedTensor> codes) : kept_(std::move(codes)) {}

  at::Tensor restored() const;
  bool holds_input() const;
  at::TensorList tensors() const override;
  bool is_settled() const override;
  void hold(const at::Tensor& input) override;
  void when_changed(const std::function<void()>& tell);
  void forget_listeners() override;

 private:
  mutable std::mutex mutex_;
  std::unique_ptr<const PackedTensor> kept_;
  bool holds_input_ = false;
  std::function<void()> tell_;
};

/// In autograd's place of the codes.
std::unique_ptr<const PackedTensor> kept_in(std::shared_ptr<CodesOrInput> state);

}  // namespace fewbit::session

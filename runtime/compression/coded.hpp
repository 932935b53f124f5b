#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "compression/recompute/changing_run.hpp"
#include "compression/recompute/tracker.hpp"
#include "trace/saved_tensors.hpp"

namespace fewbit::session {

/// Of what one forward coded for operations that read in pieces, the largest tensor's bytes.
struct LargestCoded {
  std::atomic<int64_t> bytes = 0;

  /// Whether such a tensor may be there when memory is fullest.
  bool is_large(int64_t bytes_of_one) const { return 2 * bytes_of_one >= bytes.load(); }
};

/// A part of a run, in the saved tensor's layout. What is large backward reads in pieces: at most 8
/// of 512 KiB a thread on a CPU, 4 of 64 MiB or more elsewhere, where each takes launches.
class Coded final : public ChangingTensor {
 public:
  /// view: what the tensor shows, with dimensions of size 1 where it is expanded. largest: null
  /// where it is read as a whole.
  Coded(Shown shown, const at::Tensor& tensor, const at::Tensor& view,
        std::shared_ptr<LargestCoded> largest);

  at::Tensor restored() const override;
  at::TensorList tensors() const override { return shown_.run->tensors(); }
  bool is_settled() const override { return session::is_settled(*shown_.run); }
  void when_changed(const std::function<void()>& tell) const override {
    session::when_changed(*shown_.run, tell);
  }

 private:
  /// Rows of a piece; 0: there are none.
  int64_t rows_at_once() const;

  Shown shown_;
  std::shared_ptr<LargestCoded> largest_;
  at::ScalarType type_;
  c10::Device device_;
  int64_t bytes_;
};

}  // namespace fewbit::session

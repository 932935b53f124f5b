#include "compression/coded.hpp"

#include <algorithm>
#include <utility>

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include "pieces/piecewise.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

namespace {

constexpr int64_t kLeastOfThread = int64_t{1} << 19;

class ShownRows final : public RowSource {
 public:
  explicit ShownRows(Shown shown) : shown_(std::move(shown)) {}
  at::Tensor whole() const override { return shown_.tensor(); }
  at::Tensor rows(int64_t first, int64_t last) const override { return shown_.rows(first, last); }

 private:
  Shown shown_;
};

}  // namespace

Coded::Coded(Shown shown, const at::Tensor& tensor, const at::Tensor& view,
             std::shared_ptr<LargestCoded> largest)
    : shown_(std::move(shown)),
      largest_(std::move(largest)),
      type_(tensor.scalar_type()),
      device_(tensor.device()),
      bytes_(static_cast<int64_t>(view.nbytes())) {
  shown_.sizes = tensor.sizes().vec();
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) != view.size(i)) shown_.strides[static_cast<size_t>(i)] = 0;
  }
  if (!largest_) return;
  int64_t known = largest_->bytes.load();
  while (known < bytes_ && !largest_->bytes.compare_exchange_weak(known, bytes_)) {
  }
}

int64_t Coded::rows_at_once() const {
  if (!largest_ || !largest_->is_large(bytes_) || !shown_.has_rows()) return 0;
  // Of a smaller piece threads would wait for one another more than they compute.
  const bool is_on_cpu = device_.is_cpu();
  const int64_t most = is_on_cpu ? 8 : 4;
  const int64_t least_bytes = is_on_cpu ? kLeastOfThread * at::get_num_threads() : int64_t{1} << 26;
  const int64_t rows = shown_.sizes[0], pieces = std::min({most, bytes_ / least_bytes, rows});
  return pieces < 2 ? 0 : (rows + pieces - 1) / pieces;
}

at::Tensor Coded::restored() const {
  // Where the graph goes on through the gradient, or nobody computes one, it has to be a tensor.
  const int64_t at_once = is_in_backward() && !at::GradMode::is_enabled() ? rows_at_once() : 0;
  if (at_once == 0) return shown_.tensor();
  return at::Tensor(c10::make_intrusive<Piecewise>(
      std::make_shared<ShownRows>(shown_),
      Piecewise::Layout{shown_.sizes, shown_.strides, type_, device_}, at_once));
}

}  // namespace fewbit::session

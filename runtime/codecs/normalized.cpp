// Inputs of norms by means and deviations that the norm saves in any case.
#include <algorithm>
#include <utility>
#include <vector>

#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/sub.h>

#include "codecs/codec.hpp"
#include "codecs/common.hpp"

namespace fewbit::codecs {

namespace {

/// x as its norm sees it: channels in their groups.
at::Tensor seen(const at::Tensor& x, const Statistics& statistics) {
  return statistics.groups == 0 ? x : x.unflatten(1, {statistics.groups, -1});
}

/// With factors that values can be multiplied and divided by.
Statistics usual(Statistics statistics) {
  // Where the variance is beyond the type's range the factor is 0, and what the norm makes of the
  // row, too: so large that it is nothing compared with other rows.
  constexpr double kNearlyNothing = 1e-30;
  statistics.factor = at::nan_to_num(statistics.factor, 1.0, 1.0, 1.0).clamp_min_(kNearlyNothing);
  return statistics;
}

/// Of its memory order, in the type that inner codes are of.
at::Tensor normalized_values(const at::Tensor& x, const Statistics& statistics) {
  const auto type = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  at::Tensor y = at::empty_like(x, x.options().dtype(type));
  at::Tensor values = seen(y, statistics);
  if (statistics.mean.defined()) {
    at::sub_out(values, seen(x, statistics), statistics.mean).mul_(statistics.factor);
  } else {
    at::mul_out(values, seen(x, statistics), statistics.factor);
  }
  return y;
}

class NormalizedRun final : public Encoded {
 public:
  NormalizedRun(std::shared_ptr<const Encoded> inner, Statistics statistics, const at::Tensor& x)
      : inner_(std::move(inner)),
        statistics_(std::move(statistics)),
        dtype_(x.scalar_type()),
        sizes_(x.sizes().vec()),
        strides_(x.strides().vec()),
        rows_(x),
        parts_(inner_->tensors().vec()) {
    if (!statistics_.is_kept_anyway) {
      parts_.push_back(statistics_.factor);
      if (statistics_.mean.defined()) parts_.push_back(statistics_.mean);
    }
  }

  at::Tensor decoded() const override {
    return restored(inner_->decoded(), 0, sizes_.empty() ? 1 : sizes_[0]);
  }

  bool has_parts() const override { return rows_.are_outermost() && inner_->has_parts(); }

  at::Tensor decoded(int64_t begin, int64_t end) const override {
    const auto [first, last] = rows_.holding(begin, end);
    const at::Tensor run =
        restored(inner_->decoded(rows_.begin(first), rows_.begin(last)), first, last);
    return ops::slice_of(run, begin - rows_.begin(first), end - rows_.begin(first));
  }

  at::TensorList tensors() const override { return parts_; }
  uint32_t references() const override { return inner_->references() + 1; }

 private:
  /// Rows [first, last), in the place of what the norm makes of them.
  at::Tensor restored(const at::Tensor& run, int64_t first, int64_t last) const {
    std::vector<int64_t> sizes = sizes_;
    if (!sizes.empty()) sizes[0] = last - first;
    const Statistics statistics =
        statistics_of_rows(statistics_, static_cast<int64_t>(sizes_.size()), first, last);
    at::Tensor values = seen(ops::seen_as(run, sizes, strides_), statistics);
    // Loops over vectors, which one over both statistics at a time would not be.
    values.div_(statistics.factor);
    if (statistics.mean.defined()) values.add_(statistics.mean);
    return ops::in_type(run, dtype_);
  }

  std::shared_ptr<const Encoded> inner_;
  Statistics statistics_;
  at::ScalarType dtype_;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> strides_;
  Rows rows_;
  std::vector<at::Tensor> parts_;  // the inner run's, and what is stored besides
};

class Normalized final : public Codec {
 public:
  Normalized(CodecPointer inner, Statistics statistics)
      : inner_(std::move(inner)), statistics_(std::move(statistics)) {}

  std::string name() const override {
    const std::string inner = inner_->name();
    return inner.starts_with("low rank") ? "normalised, " + inner : "normalised";
  }
  double bits() const override { return inner_->bits(); }

  bool takes(const at::Tensor& x) const override {
    return statistics_.factor.defined() && inner_->takes(x);
  }

  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& random) const override {
    return coded(x, [&](const at::Tensor& values) { return inner_->encode(values, random); });
  }

  std::shared_ptr<const Encoded> encode_among(SmallRuns& others, const at::Tensor& x,
                                              const RandomStream& random) const override {
    return coded(
        x, [&](const at::Tensor& values) { return inner_->encode_among(others, values, random); });
  }

 private:
  template <class Encode>
  std::shared_ptr<const Encoded> coded(const at::Tensor& x, Encode encode) const {
    Statistics statistics = usual(statistics_);
    std::shared_ptr<const Encoded> inner = encode(normalized_values(x, statistics));
    if (!inner) return nullptr;
    return std::make_shared<NormalizedRun>(std::move(inner), std::move(statistics), x);
  }

  CodecPointer inner_;
  Statistics statistics_;
};

}  // namespace

at::Tensor normalized(const at::Tensor& x, const Statistics& statistics) {
  return normalized_values(x, usual(statistics));
}

Statistics statistics_of_rows(const Statistics& statistics, int64_t dimensions, int64_t first,
                              int64_t last) {
  const int64_t seen = dimensions + (statistics.groups == 0 ? 0 : 1);
  const auto of_rows = [&](const at::Tensor& numbers) {
    const bool is_shared =
        !numbers.defined() || numbers.dim() < seen || seen == 0 || numbers.size(0) == 1;
    return is_shared ? numbers : ops::slice_of(numbers, first, last);
  };
  Statistics some = statistics;
  some.mean = of_rows(statistics.mean);
  some.factor = of_rows(statistics.factor);
  return some;
}

Statistics statistics_of(const at::Tensor& mean, const at::Tensor& factor, int64_t groups) {
  const auto type = factor.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  return {mean.defined() ? mean.detach().to(type) : mean, factor.detach().to(type), groups};
}

CodecPointer normalized(CodecPointer inner, const Statistics& statistics) {
  return std::make_shared<Normalized>(std::move(inner), statistics);
}

}  // namespace fewbit::codecs

#include "compression/probabilities.hpp"

#include <functional>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/ops/div.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/where.h>
#include <c10/util/Exception.h>

namespace fewbit::session {

namespace {

class SummingToOne final : public ChangingTensor {
 public:
  SummingToOne(std::unique_ptr<const PackedTensor> kept, int64_t dim)
      : kept_(std::move(kept)), dim_(dim) {}

  at::Tensor restored() const override {
    const at::Tensor p = kept_->restored();
    const at::TensorList held = kept_->tensors();
    const bool is_exact = held.size() == 1 && held[0].is_floating_point() &&
                          held[0].scalar_type() == p.scalar_type() && held[0].numel() == p.numel();
    if (is_exact) return p;
    constexpr double kHalf = 0.5;  // below it are rows of zeros, such as those masked whole
    const at::Tensor sum = at::sum(p, dim_, /*keepdim=*/true, at::kFloat);
    return at::div(p, at::where(sum > kHalf, sum, at::ones_like(sum))).to(p.scalar_type());
  }
  at::TensorList tensors() const override { return kept_->tensors(); }
  bool is_settled() const override { return session::is_settled(*kept_); }
  void when_changed(const std::function<void()>& tell) const override {
    session::when_changed(*kept_, tell);
  }

 private:
  std::unique_ptr<const PackedTensor> kept_;
  int64_t dim_;
};

class ExponentialOf final : public codecs::Encoded {
 public:
  explicit ExponentialOf(at::Tensor logarithms)
      : logarithms_(std::move(logarithms)), version_(logarithms_._version()) {}

  at::Tensor decoded() const override {
    TORCH_CHECK(logarithms_._version() == version_,
                "one of the variables needed for gradient computation has been modified by an "
                "inplace operation: the output of log_softmax is at version ",
                logarithms_._version(), "; expected version ", version_);
    return at::exp(logarithms_).as_strided({logarithms_.numel()}, {1});
  }
  at::TensorList tensors() const override { return logarithms_; }

 private:
  at::Tensor logarithms_;
  int64_t version_;
};

}  // namespace

std::unique_ptr<const PackedTensor> summing_to_one(std::unique_ptr<const PackedTensor> kept,
                                                   int64_t dim) {
  return std::make_unique<SummingToOne>(std::move(kept), dim);
}

std::shared_ptr<const codecs::Encoded> exponential_of(const at::Tensor& logarithms) {
  return std::make_shared<ExponentialOf>(logarithms);
}

}  // namespace fewbit::session

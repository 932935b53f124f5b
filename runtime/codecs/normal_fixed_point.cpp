// Inputs of norms in equal bins of what these make of them.
#include <array>
#include <utility>
#include <vector>

#include <ATen/ExpandUtils.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include "codecs/codec.hpp"
#include "codecs/common.hpp"
#include "ops/normal_bins.hpp"

namespace fewbit::codecs {

namespace {

/// Nothing lies so many deviations from its mean.
constexpr double kFar = 1e5;

/// x as its norm sees it: channels in their groups.
at::Tensor grouped_view(const at::Tensor& x, const Norm& norm) {
  return norm.groups == 0 ? x : x.unflatten(1, {norm.groups, -1});
}

class FixedPointRun final : public Encoded {
 public:
  FixedPointRun(int bits, const Norm& norm, const at::Tensor& x)
      : bits_(bits), dtype_(x.scalar_type()) {
    const at::Tensor seen = grouped_view(x, norm);
    shape_ = seen.sizes().vec();
    strides_ = seen.strides().vec();
    const at::Tensor in = seen.to(computed_type());
    const at::Tensor mean = at::mean(in, norm.over, /*keepdim=*/true);
    const at::Tensor deviation =
        at::sub(in, mean).square_().mean(norm.over, /*keepdim=*/true).add_(norm.epsilon).sqrt_();
    const auto [sign, ratio] = affine_of(norm, in.options());
    const ops::NormNumbers numbers{mean, deviation, sign, ratio};
    parts_ = {ops::normal_bins_encode(seen, numbers, bits), mean, deviation, sign, ratio};
  }

  at::Tensor decoded() const override {
    const auto& [codes, mean, deviation, sign, ratio] = parts_;
    return flat(ops::normal_bins_decode(codes, shape_, strides_, dtype_,
                                        {mean, deviation, sign, ratio}, bits_));
  }

  at::TensorList tensors() const override { return parts_; }

 private:
  at::ScalarType computed_type() const { return dtype_ == at::kDouble ? at::kDouble : at::kFloat; }

  /// sign(weight) and bias / |weight|; 0 where that says nothing.
  static std::pair<at::Tensor, at::Tensor> affine_of(const Norm& norm,
                                                     const at::TensorOptions& options) {
    at::Tensor sign = at::ones({}, options), ratio = at::zeros({}, options);
    if (norm.weight.defined()) {
      sign = norm.weight.lt(0.0).to(options).mul_(-2.0).add_(1.0);
    }
    if (norm.bias.defined()) {
      ratio = norm.bias.to(at::kDouble);
      if (norm.weight.defined()) ratio = ratio.div(norm.weight.to(at::kDouble).abs());
      ratio = at::nan_to_num(ratio).clamp_(-kFar, kFar).to(options);
    }
    return {sign, ratio};
  }

  int bits_;
  at::ScalarType dtype_;
  std::vector<int64_t> shape_;
  std::vector<int64_t> strides_;
  std::array<at::Tensor, 5> parts_;  // codes, means, deviations, signs, ratios
};

class NormalFixedPoint final : public Codec {
 public:
  NormalFixedPoint(int bits, Norm norm) : bits_(bits), norm_(std::move(norm)) {
    for (at::Tensor* tensor : {&norm_.weight, &norm_.bias}) {
      if (tensor->defined()) *tensor = tensor->detach();
    }
  }

  std::string name() const override { return "fixed point"; }
  double bits() const override { return bits_; }

  bool keeps_signs() const override { return true; }

  bool takes(const at::Tensor& x) const override {
    if (!is_real(x.scalar_type()) || x.numel() == 0) return false;
    if (norm_.groups > 0 && (x.dim() < 2 || x.size(1) % norm_.groups != 0)) return false;
    const int64_t dimensions = x.dim() + (norm_.groups > 0 ? 1 : 0);
    for (const int64_t dimension : norm_.over) {
      if (dimension >= dimensions) return false;
    }
    const std::vector<int64_t> sizes = grouped_view(x, norm_).sizes().vec();
    const auto fits = [&](const at::Tensor& numbers) {
      return !numbers.defined() || at::is_expandable_to(numbers.sizes(), sizes);
    };
    return fits(norm_.weight) && fits(norm_.bias);
  }

  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& /*random*/) const override {
    return std::make_shared<FixedPointRun>(bits_, norm_, x);
  }

 private:
  int bits_;
  Norm norm_;
};

}  // namespace

CodecPointer normal_fixed_point(int bits, const Norm& norm) {
  TORCH_CHECK(bits >= 1 && bits <= 8, "fewbit::codecs::normal_fixed_point: bits is ", bits,
              ", accepted: 1 to 8");
  return std::make_shared<NormalFixedPoint>(bits, norm);
}

}  // namespace fewbit::codecs

// Inputs of norms in equal bins of what these make of them.
#include <array>
#include <utility>
#include <vector>

#include <ATen/ExpandUtils.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <c10/util/accumulate.h>

#include "codecs/codec.hpp"
#include "codecs/common.hpp"
#include "ops/integers.hpp"

namespace fewbit::codecs {

namespace {

/// Deviations that bins reach to either side of the mean.
constexpr double kReach = 3.0;

/// So many deviations nothing is away from its mean.
constexpr double kFar = 1e5;

/// x as its norm sees it: channels in their groups.
at::Tensor grouped_view(const at::Tensor& x, const Norm& norm) {
  return norm.groups == 0 ? x : x.unflatten(1, {norm.groups, -1});
}

/// Bins of u = (x - mean) / deviation * sign(weight), a row of them for each weight. The norm's
/// output is |weight| (u + ratio), so that it is 0 where u is -ratio.
struct Bins {
  at::Tensor ratio;  ///< bias / |weight|
  at::Tensor first;  ///< where the first bin begins
  at::Tensor shift;  ///< the first code of outputs that are not negative
  double width;
  int last;  ///< code

  Bins(at::Tensor of, int bits)
      : ratio(std::move(of)), width(2.0 * kReach / (1 << bits)), last((1 << bits) - 1) {
    // An edge lies where the output is 0, and every bin on its side of it, as long as one bin is
    // left on each side.
    const at::Tensor whole = ratio.div(width).floor_();
    const at::Tensor wanted = whole.neg().add_((last + 1) / 2);
    shift = wanted.clamp(1, last);
    const at::Tensor even = whole.mul(width).sub_(ratio).sub_(kReach);
    // Else all but one code are of one sign and lie about the mean.
    const at::Tensor above = at::where(wanted.lt(1), -kReach - 0.5 * width, even);
    const at::Tensor below =
        ratio.neg().sub_(2.0 * kReach - width).clamp_max_(0.5 * width - kReach);
    first = at::where(wanted.gt(last), below, above);
  }

  at::Tensor codes(const at::Tensor& u) const {
    const at::Tensor code = at::sub(u, first).div_(width).floor_().clamp_(0, last);
    return at::nan_to_num(
        at::where(u.ge(ratio.neg()), at::maximum(code, shift), at::minimum(code, shift.sub(1))));
  }

  /// The middles of bins, those of outputs that are not negative beyond the zero.
  at::Tensor middles(const at::Tensor& codes) const {
    const at::Tensor middle = at::add(codes, 0.5).mul_(width).add_(first);
    const at::Tensor zero = ratio.neg();
    return at::where(codes.ge(shift), at::maximum(middle, zero.add(0.5 * width)),
                     at::minimum(middle, zero.sub(0.5 * width)));
  }
};

class FixedPointRun final : public Encoded {
 public:
  FixedPointRun(int bits, const Norm& norm, const at::Tensor& x)
      : bits_(bits), dtype_(x.scalar_type()) {
    const at::Tensor seen = grouped_view(x, norm);
    shape_ = seen.sizes().vec();
    strides_ = seen.strides().vec();
    const at::Tensor in = seen.to(computed_type());
    const at::Tensor mean = at::mean(in, norm.over, /*keepdim=*/true);
    at::Tensor u = at::sub(in, mean);
    const at::Tensor deviation =
        at::mean(u.square(), norm.over, /*keepdim=*/true).add_(norm.epsilon).sqrt_();
    const auto [sign, ratio] = affine_of(norm, in.options());
    const at::Tensor codes = at::empty_like(seen, seen.options().dtype(at::kByte));
    if (!x.is_meta()) {
      codes.copy_(Bins(ratio, bits).codes(u.div_(deviation).mul_(sign)));
    }
    parts_ = {ops::integer_encode(codes, 0, bits), mean, deviation, sign, ratio};
  }

  at::Tensor decoded() const override {
    const auto& [codes, mean, deviation, sign, ratio] = parts_;
    const int64_t count = c10::multiply_integers(shape_);
    const at::Tensor integers = ops::integer_decode(codes, count, 0, bits_, at::kByte);
    const at::Tensor u =
        Bins(ratio, bits_).middles(integers.as_strided(shape_, strides_).to(computed_type()));
    const double largest = largest_of(dtype_);
    const at::Tensor x = u.mul(sign).mul_(deviation).add_(mean).clamp_(-largest, largest);
    return flat(at::empty_strided(shape_, strides_, codes.options().dtype(dtype_)).copy_(x));
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

  std::string name() const override { return "fixed point, " + bits_text(bits_); }

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

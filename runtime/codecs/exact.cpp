// Codecs that lose nothing of what they are for.
#include <limits>
#include <vector>

#include <ATen/ops/full.h>
#include <ATen/ops/max.h>
#include <ATen/ops/min.h>

#include "codecs/codec.hpp"
#include "codecs/common.hpp"
#include "ops/integers.hpp"

namespace fewbit::codecs {

namespace {

class MaskRun final : public Encoded {
 public:
  explicit MaskRun(const at::Tensor& x) : count_(x.numel()), dtype_(x.scalar_type()) {
    parts_.push_back(ops::sign_encode(x));
    if (dtype_ != at::kBool) parts_.push_back(at::max(x));
  }

  at::Tensor decoded() const override {
    const at::Tensor ones = ops::sign_decode(parts_[0], count_, dtype_);
    return dtype_ == at::kBool ? ones : ones.mul_(parts_[1]);
  }

  at::TensorList tensors() const override { return parts_; }

 private:
  int64_t count_;
  at::ScalarType dtype_;
  std::vector<at::Tensor> parts_;  // codes, the other value
};

class Mask final : public Codec {
 public:
  std::string name() const override { return "mask, 1 bit"; }
  bool takes(const at::Tensor& x) const override {
    return is_real(x.scalar_type()) || x.scalar_type() == at::kBool;
  }
  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& /*random*/) const override {
    return std::make_shared<MaskRun>(x);
  }
};

class IntegersRun final : public Encoded {
 public:
  explicit IntegersRun(const at::Tensor& x) : count_(x.numel()), dtype_(x.scalar_type()) {
    minimum_ = at::min(x).item().toLong();
    const int64_t maximum = at::max(x).item().toLong();
    bits_ = ops::integer_bits(minimum_, maximum);
    codes_ = ops::integer_encode(x, minimum_, bits_);
  }

  at::Tensor decoded() const override {
    return ops::integer_decode(codes_, count_, minimum_, bits_, dtype_);
  }

  at::TensorList tensors() const override { return codes_; }

 private:
  int64_t count_;
  at::ScalarType dtype_;
  int64_t minimum_ = 0;
  int bits_ = 0;
  at::Tensor codes_;
};

class Integers final : public Codec {
 public:
  std::string name() const override { return "integers"; }
  bool takes(const at::Tensor& x) const override {
    const at::ScalarType type = x.scalar_type();
    if (type != at::kLong && type != at::kInt) return false;
    return x.numel() > 0 &&
           ops::integer_bits(at::min(x).item().toLong(), at::max(x).item().toLong()) <= 32;
  }
  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& /*random*/) const override {
    return std::make_shared<IntegersRun>(x);
  }
};

class SizesRun final : public Encoded {
 public:
  explicit SizesRun(const at::Tensor& x)
      : count_(x.numel()), options_(x.options().requires_grad(false)) {}

  at::Tensor decoded() const override {
    return at::full({count_}, std::numeric_limits<double>::quiet_NaN(), options_);
  }

  at::TensorList tensors() const override { return {}; }

 private:
  int64_t count_;
  at::TensorOptions options_;
};

class SizesOnly final : public Codec {
 public:
  std::string name() const override { return "sizes only"; }
  bool takes(const at::Tensor& x) const override { return is_real(x.scalar_type()); }
  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& /*random*/) const override {
    return std::make_shared<SizesRun>(x);
  }
};

}  // namespace

CodecPointer mask() {
  return std::make_shared<Mask>();
}

CodecPointer integers() {
  return std::make_shared<Integers>();
}

CodecPointer sizes_only() {
  return std::make_shared<SizesOnly>();
}

}  // namespace fewbit::codecs

// Codecs that lose nothing of what they are for.
#include <limits>
#include <vector>

#include <ATen/ops/aminmax.h>
#include <ATen/ops/clone.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/max.h>

#include "codecs/codec.hpp"
#include "codecs/common.hpp"
#include "ops/integers.hpp"

namespace fewbit::codecs {

namespace {

class IdentityRun final : public Encoded {
 public:
  explicit IdentityRun(const at::Tensor& x) : copy_(flat(x).clone()) {}

  at::Tensor decoded() const override { return copy_.clone(); }

  at::TensorList tensors() const override { return copy_; }

 private:
  at::Tensor copy_;
};

class Identity final : public Codec {
 public:
  std::string name() const override { return "identity"; }
  bool takes(const at::Tensor& /*x*/) const override { return true; }
  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& /*random*/) const override {
    return std::make_shared<IdentityRun>(x);
  }
};

/// torch has no shape of it without data.
at::Tensor greatest(const at::Tensor& x) {
  return x.is_meta() ? at::empty({}, x.options()) : at::max(x);
}

class MaskRun final : public Encoded {
 public:
  explicit MaskRun(const at::Tensor& x) : count_(x.numel()), dtype_(x.scalar_type()) {
    parts_.push_back(ops::sign_encode(x));
    if (dtype_ != at::kBool) parts_.push_back(greatest(x));
  }

  at::Tensor decoded() const override { return of(parts_[0], count_); }

  bool has_parts() const override { return true; }

  at::Tensor decoded(int64_t begin, int64_t end) const override {
    const ops::Part part(begin, end, count_);
    return part.elements(of(part.of_codes(parts_[0], 1, count_), part.count()), begin, end);
  }

  at::TensorList tensors() const override { return parts_; }

 private:
  at::Tensor of(const at::Tensor& codes, int64_t count) const {
    const at::Tensor ones = ops::sign_decode(codes, count, dtype_);
    return dtype_ == at::kBool ? ones : ones.mul_(parts_[1]);
  }

  int64_t count_;
  at::ScalarType dtype_;
  std::vector<at::Tensor> parts_;  // codes, the other value
};

class Mask final : public Codec {
 public:
  std::string name() const override { return "mask"; }
  double bits() const override { return 1.0; }
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
  IntegersRun(const at::Tensor& x, int64_t minimum, int bits)
      : count_(x.numel()),
        dtype_(x.scalar_type()),
        minimum_(minimum),
        bits_(bits),
        codes_(ops::integer_encode(x, minimum, bits)) {}

  at::Tensor decoded() const override {
    return ops::integer_decode(codes_, count_, minimum_, bits_, dtype_);
  }

  at::TensorList tensors() const override { return codes_; }

 private:
  int64_t count_;
  at::ScalarType dtype_;
  int64_t minimum_;
  int bits_;
  at::Tensor codes_;
};

class Integers final : public Codec {
 public:
  std::string name() const override { return "integers"; }
  bool takes(const at::Tensor& x) const override {
    return x.numel() > 0 && (x.scalar_type() == at::kLong || x.scalar_type() == at::kInt);
  }
  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& /*random*/) const override {
    if (x.is_meta()) return nullptr;
    const auto [least, greatest] = at::aminmax(x);
    const int64_t minimum = least.item().toLong();
    const int bits = ops::integer_bits(minimum, greatest.item().toLong());
    return bits > kMostBits ? nullptr : std::make_shared<IntegersRun>(x, minimum, bits);
  }

 private:
  static constexpr int kMostBits = 32;
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

CodecPointer identity() {
  return std::make_shared<Identity>();
}

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

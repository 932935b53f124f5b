#include <algorithm>
#include <limits>

#include <ATen/ops/clamp.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isinf.h>
#include <ATen/ops/where.h>
#include <c10/util/Exception.h>

#include "codecs/codec.hpp"
#include "codecs/common.hpp"

namespace fewbit::codecs {

namespace {

struct Target {
  at::ScalarType type;
  const char* name;
  double largest;
};

template <class Element>
Target target(at::ScalarType type, const char* name) {
  return {type, name, static_cast<double>(std::numeric_limits<Element>::max())};
}

Target target_of(at::ScalarType type) {
  switch (type) {
    case at::kBFloat16:
      return target<at::BFloat16>(type, "bf16");
    case at::kFloat8_e4m3fn:
      return target<c10::Float8_e4m3fn>(type, "fp8 e4m3");
    case at::kFloat8_e5m2:
      return target<c10::Float8_e5m2>(type, "fp8 e5m2");
    default:
      TORCH_CHECK(false, "fewbit::codecs::cast: a type of ", type,
                  ", accepted: bfloat16, float8_e4m3fn, float8_e5m2");
  }
}

/// torch makes infinities or NaNs of what lies beyond the type's largest number.
at::Tensor saturated(const at::Tensor& x, double largest) {
  return at::where(at::isinf(x), x, at::clamp(x, -largest, largest));
}

/// A part after the other, so that what is computed on the way stays small compared with x.
at::Tensor casted(const at::Tensor& x, const Target& to) {
  constexpr int64_t kPart = int64_t{1} << 20;
  at::Tensor result = at::empty({x.numel()}, x.options().dtype(to.type));
  if (x.is_meta()) return result;
  for (int64_t begin = 0; begin < x.numel(); begin += kPart) {
    const int64_t count = std::min(kPart, x.numel() - begin);
    result.narrow(0, begin, count).copy_(saturated(x.narrow(0, begin, count), to.largest));
  }
  return result;
}

class CastRun final : public Encoded {
 public:
  CastRun(const Target& to, const at::Tensor& x)
      : dtype_(x.scalar_type()), elements_(casted(flat(x), to)) {}

  at::Tensor decoded() const override { return elements_.to(dtype_); }
  bool has_parts() const override { return true; }
  at::Tensor decoded(int64_t begin, int64_t end) const override {
    return elements_.slice(0, begin, end).to(dtype_);
  }

  at::TensorList tensors() const override { return elements_; }

 private:
  at::ScalarType dtype_;
  at::Tensor elements_;
};

class Cast final : public Codec {
 public:
  explicit Cast(const Target& to) : to_(to) {}

  std::string name() const override { return std::string("cast, ") + to_.name; }

  bool takes(const at::Tensor& x) const override {
    const at::ScalarType type = x.scalar_type();
    return is_real(type) && type != at::kDouble &&
           c10::elementSize(type) > c10::elementSize(to_.type);
  }

  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& /*random*/) const override {
    return std::make_shared<CastRun>(to_, x);
  }

 private:
  Target to_;
};

}  // namespace

CodecPointer cast(at::ScalarType type) {
  return std::make_shared<Cast>(target_of(type));
}

}  // namespace fewbit::codecs

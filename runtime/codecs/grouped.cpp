#include <array>
#include <cstdio>

#include <ATen/ops/clone.h>
#include <ATen/ops/mean.h>
#include <c10/util/accumulate.h>

#include "codecs/codec.hpp"
#include "codecs/common.hpp"
#include "ops/group.hpp"
#include "ops/group_samples.hpp"

namespace fewbit::codecs {

namespace {

constexpr c10::string_view kEven = "stochastic";
constexpr c10::string_view kSquares = "squares";

struct Format {
  int bits;
  int64_t group;
  c10::string_view rounding;
};

class GroupedRun final : public Encoded {
 public:
  GroupedRun(const Format& format, const at::Tensor& x, const RandomStream& random)
      : format_(format), count_(x.numel()), dtype_(x.scalar_type()) {
    auto [codes, constants] = ops::group_encode(x, format.bits, format.group, format.rounding,
                                                random.seed, random.offset);
    parts_ = {codes, constants};
  }

  at::Tensor decoded() const override {
    return ops::group_decode(parts_[0], parts_[1], count_, format_.bits, format_.group,
                             format_.rounding, dtype_);
  }

  at::TensorList tensors() const override { return parts_; }

 private:
  Format format_;
  int64_t count_;
  at::ScalarType dtype_;
  std::array<at::Tensor, 2> parts_;  // codes, constants
};

class Grouped final : public Codec {
 public:
  explicit Grouped(Format format) : format_(format) {}

  std::string name() const override {
    return (format_.rounding == kEven ? "group, " : "squares, ") + bits_text(format_.bits);
  }

  bool takes(const at::Tensor& x) const override { return is_real(x.scalar_type()); }

  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& random) const override {
    return std::make_shared<GroupedRun>(format_, x, random);
  }

 private:
  Format format_;
};

class SampledRun final : public Encoded {
 public:
  SampledRun(const at::Tensor& bits, int64_t bytes, int64_t group, const at::Tensor& x,
             const RandomStream& random)
      : group_(group), count_(elements_of_one(x)), dtype_(x.scalar_type()) {
    auto [codes, constants] =
        ops::group_encode_samples(x, bits, bytes, group, kEven, random.seed, random.offset);
    parts_ = {codes, constants, bits};
  }

  at::Tensor decoded() const override {
    return flat(
        ops::group_decode_samples(parts_[0], parts_[1], parts_[2], count_, group_, kEven, dtype_));
  }

  at::TensorList tensors() const override { return parts_; }

  static int64_t elements_of_one(const at::Tensor& x) {
    return c10::multiply_integers(x.sizes().slice(1));
  }

 private:
  int64_t group_;
  int64_t count_;  // elements of one sample
  at::ScalarType dtype_;
  std::array<at::Tensor, 3> parts_;  // codes, constants, bits
};

class GroupedSamples final : public Codec {
 public:
  GroupedSamples(const at::Tensor& bits, int64_t group) : bits_(bits.clone()), group_(group) {
    ops::group_sample_bytes(bits_, 0);  // which checks them
  }

  std::string name() const override {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "group, %.3g bits by sample",
                  at::mean(bits_, at::kDouble).item().toDouble());
    return text.data();
  }

  bool takes(const at::Tensor& x) const override {
    return is_real(x.scalar_type()) && x.dim() > 0 && x.size(0) == bits_.numel() &&
           ops::has_samples_in_order(x);
  }

  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& random) const override {
    const int64_t bytes = ops::group_sample_bytes(bits_, SampledRun::elements_of_one(x));
    return std::make_shared<SampledRun>(bits_.to(x.device()), bytes, group_, x, random);
  }

 private:
  at::Tensor bits_;
  int64_t group_;
};

}  // namespace

CodecPointer grouped(int bits, int64_t group) {
  return std::make_shared<Grouped>(Format{bits, group, kEven});
}

CodecPointer squares(int bits, int64_t group) {
  return std::make_shared<Grouped>(Format{bits, group, kSquares});
}

CodecPointer grouped(const at::Tensor& bits, int64_t group) {
  return std::make_shared<GroupedSamples>(bits, group);
}

}  // namespace fewbit::codecs

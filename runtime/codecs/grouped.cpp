#include <array>
#include <cmath>
#include <vector>

#include <ATen/ops/add.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/clone.h>
#include <ATen/ops/div.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <c10/util/Exception.h>
#include <c10/util/accumulate.h>

#include "codecs/codec.hpp"
#include "codecs/common.hpp"
#include "codecs/extremes.hpp"
#include "ops/group.hpp"
#include "ops/group_samples.hpp"
#include "ops/rotated.hpp"

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

  bool has_parts() const override { return true; }

  at::Tensor decoded(int64_t begin, int64_t end) const override {
    const ops::Part part(begin, end, count_);
    return part.elements(
        ops::group_decode(part.of_codes(parts_[0], format_.bits, count_),
                          part.of_constants(parts_[1], format_.group), part.count(), format_.bits,
                          format_.group, format_.rounding, dtype_),
        begin, end);
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

  std::string name() const override { return format_.rounding == kEven ? "group" : "squares"; }
  double bits() const override { return format_.bits; }

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

  std::string name() const override { return "group by sample"; }
  double bits() const override { return at::mean(bits_, at::kDouble).item().toDouble(); }

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

/// Halves of the ranges of a sample's groups: double [samples, groups].
at::Tensor half_ranges(const at::Tensor& x, int64_t group) {
  const int64_t samples = x.size(0), count = SampledRun::elements_of_one(x);
  const at::Tensor rows = x.as_strided({samples, count}, {count, 1});
  const int64_t whole = count / group * group;
  std::vector<at::Tensor> halves;
  const auto add = [&](const at::Tensor& groups) {
    const auto half = [](const at::Tensor& extreme) { return extreme.to(at::kDouble).mul_(0.5); };
    halves.push_back(at::sub(half(at::amax(groups, -1)), half(at::amin(groups, -1))));
  };
  if (whole > 0) add(rows.slice(1, 0, whole).unflatten(1, {-1, group}));
  if (whole < count) add(rows.slice(1, whole).unsqueeze(1));
  return at::cat(halves, 1);
}

/// Squares of the ranges of a sample's groups, summed, over that of the greatest range, so that
/// they stay in the range of doubles; none of groups without a range. double [samples].
at::Tensor squared_ranges(const at::Tensor& x, int64_t group) {
  at::Tensor halves = at::nan_to_num(half_ranges(x, group), 0.0, 0.0, 0.0);
  const at::Tensor greatest = halves.amax();
  halves.div_(at::where(greatest.gt(0.0), greatest, 1.0));
  return at::mul(halves, halves).sum(-1);
}

/// Of all bits beyond the first of every sample those that take most off the sum: for each sample
/// every one takes less off than the one before it.
at::Tensor bits_by_sample(const at::Tensor& x, double bits, int64_t group) {
  constexpr int kMostBits = 8;
  std::vector<double> gains;
  for (int b = 1; b < kMostBits; ++b) {
    gains.push_back(std::pow((1 << b) - 1, -2) - std::pow((2 << b) - 1, -2));
  }
  const at::Tensor of_samples = squared_ranges(x, group);
  const at::Tensor all = at::outer(of_samples, at::tensor(gains, at::kDouble)).flatten();
  const auto samples = static_cast<double>(x.size(0));
  const auto taken = static_cast<int64_t>(std::floor((bits - 1) * samples * (1 + 1e-12)));
  const at::Tensor order = std::get<1>(at::sort(all, /*stable=*/true, -1, /*descending=*/true));
  const at::Tensor samples_of = at::div(order.slice(0, 0, taken), kMostBits - 1, "floor");
  return at::add(at::bincount(samples_of, {}, x.size(0)), 1).to(at::kByte);
}

class GroupedBySample final : public Codec {
 public:
  GroupedBySample(double bits, int64_t group) : bits_(bits), group_(group) {
    TORCH_CHECK(bits >= 1 && bits <= 8, "fewbit::grouped_by_sample: bits is ", bits,
                ", accepted: 1 to 8");
  }

  std::string name() const override { return "group by sample"; }
  double bits() const override { return bits_; }

  bool takes(const at::Tensor& x) const override { return is_real(x.scalar_type()); }

  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& random) const override {
    if (x.is_meta()) return nullptr;  // bytes depend on the elements
    if (!x.is_cpu() || x.dim() == 0 || x.numel() == 0 || !ops::has_samples_in_order(x)) {
      return std::make_shared<GroupedRun>(Format{static_cast<int>(bits_), group_, kEven}, x,
                                          random);
    }
    const at::Tensor bits = bits_by_sample(x, bits_, group_);
    return GroupedSamples(bits, group_).encode(x, random);
  }

 private:
  double bits_;
  int64_t group_;
};

}  // namespace

CodecPointer grouped(int bits, int64_t group) {
  return extremes_apart(std::make_shared<Grouped>(Format{bits, group, kEven}));
}

CodecPointer squares(int bits, int64_t group) {
  return extremes_apart(std::make_shared<Grouped>(Format{bits, group, kSquares}));
}

CodecPointer grouped(const at::Tensor& bits, int64_t group) {
  return extremes_apart(std::make_shared<GroupedSamples>(bits, group));
}

CodecPointer grouped_by_sample(double bits, int64_t group) {
  return extremes_apart(std::make_shared<GroupedBySample>(bits, group));
}

}  // namespace fewbit::codecs

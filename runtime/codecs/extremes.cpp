#include "codecs/extremes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/ops/add.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/masked_select.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/where.h>

#include "codecs/common.hpp"
#include "ops/extremes.hpp"
#include "ops/integers.hpp"

namespace fewbit::codecs {

namespace {

/// A fill takes a bit of every element: of fewer than one in so many it is not worth that.
constexpr int64_t kFewest = 64;

/// What is no further from a fill, over its size, is the fill to the precision of bf16.
constexpr double kSame = 0x1p-9;

/// What is left of x to code: x itself as long as nothing is taken.
class Rest {
 public:
  explicit Rest(const at::Tensor& x) : x_(x) {}

  bool is_all() const { return !is_own_; }
  const at::Tensor& tensor() const { return x_; }
  at::Tensor run() const { return flat(x_); }
  at::Tensor run_to_change() {
    if (!is_own_) x_ = x_.clone();
    is_own_ = true;
    return run();
  }

 private:
  at::Tensor x_;
  bool is_own_ = false;
};

/// Elements that are a number, or near it.
struct Filled {
  at::Tensor members;  ///< a bit of each element
  at::Tensor value;    ///< [1], of the run's type
  bool is_all;         ///< whether members are the value; else it is added to what is decoded
};

/// What is near a fill becomes the difference.
std::optional<Filled> take_fill(Rest& left) {
  const at::Tensor run = left.run();
  const std::optional<ops::Fill> fill = ops::find_fill(run);
  if (!fill) return std::nullopt;
  const at::Tensor kept = at::full({1}, fill->value, run.options());
  const double value = kept.item().toDouble();
  const at::Tensor rest = at::sub(run, value);
  const at::Tensor distance = rest.abs();
  const at::Tensor is_near = distance.le(fill->near);
  const at::Tensor is_member = distance.le(std::max(fill->near, kSame * std::fabs(value)));
  if (is_member.sum().item().toLong() * kFewest < run.numel()) return std::nullopt;
  const bool is_all = !rest.ne(0.0).logical_and_(is_near).any().item().toBool();
  left.run_to_change().copy_(at::where(is_near, rest, at::where(is_member, 0.0, run)));
  return Filled{ops::sign_encode(is_member), kept, is_all};
}

void put_back(const Filled& filled, const at::Tensor& run) {
  const at::Tensor is_member = ops::sign_decode(filled.members, run.numel(), at::kBool);
  if (filled.is_all) {
    run.copy_(at::where(is_member, filled.value, run));
    return;
  }
  const double largest = largest_of(run.scalar_type());
  run.copy_(at::where(is_member, at::add(run, filled.value).clamp_(-largest, largest), run));
}

struct Few {
  at::Tensor places;  ///< int32 or int64 [extremes]
  at::Tensor values;  ///< [extremes], of the run's type
};

/// Puts the mean of its neighbours where an extreme is.
std::optional<Few> take_few(Rest& left) {
  const std::optional<ops::Extremes> found = ops::find_extremes(left.run());
  if (!found) return std::nullopt;
  const at::Tensor run = left.run_to_change();
  const bool is_short = run.numel() <= std::numeric_limits<int32_t>::max();
  Few few{found->places.to(is_short ? at::kInt : at::kLong), run.index_select(0, found->places)};
  run.index_copy_(0, found->places, found->instead.to(run.scalar_type()));
  return few;
}

class ApartRun final : public Encoded {
 public:
  ApartRun(std::shared_ptr<const Encoded> rest, std::vector<Filled> filled, std::optional<Few> few)
      : rest_(std::move(rest)), filled_(std::move(filled)), few_(std::move(few)) {
    all_ = rest_->tensors().vec();
    for (const Filled& fill : filled_) all_.insert(all_.end(), {fill.members, fill.value});
    if (few_) all_.insert(all_.end(), {few_->places, few_->values});
  }

  at::Tensor decoded() const override {
    at::Tensor run = rest_->decoded();
    if (few_) run.index_copy_(0, few_->places.to(at::kLong), few_->values);
    for (auto fill = filled_.rbegin(); fill != filled_.rend(); ++fill) put_back(*fill, run);
    return run;
  }

  bool has_parts() const override { return filled_.empty() && rest_->has_parts(); }

  at::Tensor decoded(int64_t begin, int64_t end) const override {
    at::Tensor run = rest_->decoded(begin, end);
    const at::Tensor is_here = few_->places.ge(begin).logical_and_(few_->places.lt(end));
    return run.index_copy_(0, few_->places.masked_select(is_here).to(at::kLong).sub_(begin),
                           few_->values.masked_select(is_here));
  }

  at::TensorList tensors() const override { return all_; }

  uint32_t references() const override { return rest_->references() + 1; }

 private:
  std::shared_ptr<const Encoded> rest_;
  std::vector<Filled> filled_;  ///< in the order in which they were taken
  std::optional<Few> few_;      ///< of what the fills left
  std::vector<at::Tensor> all_;
};

class ExtremesApart final : public Codec {
 public:
  explicit ExtremesApart(CodecPointer codec) : codec_(std::move(codec)) {}

  std::string name() const override { return codec_->name(); }
  double bits() const override { return codec_->bits(); }
  bool takes(const at::Tensor& x) const override { return codec_->takes(x); }
  bool keeps_signs() const override { return codec_->keeps_signs(); }

  std::shared_ptr<const Encoded> encode_among(SmallRuns& others, const at::Tensor& x,
                                              const RandomStream& random) const override {
    return looks_at(x) ? encode(x, random) : codec_->encode_among(others, x, random);
  }

  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& random) const override {
    if (!looks_at(x)) return codec_->encode(x, random);
    Rest rest(x);
    std::vector<Filled> filled;
    while (filled.size() < kMostFills) {
      std::optional<Filled> fill = take_fill(rest);
      if (!fill) break;
      filled.push_back(*std::move(fill));
    }
    auto [coded, has_suspects] = codec_->encode_watched(rest.tensor(), random);
    std::optional<Few> few = has_suspects ? take_few(rest) : std::nullopt;
    if (!coded || few) coded = codec_->encode(rest.tensor(), random);
    if (!coded || rest.is_all()) return coded;
    return std::make_shared<ApartRun>(std::move(coded), std::move(filled), std::move(few));
  }

 private:
  /// Elsewhere the host would wait.
  static bool looks_at(const at::Tensor& x) { return x.is_cpu() && is_real(x.scalar_type()); }

  CodecPointer codec_;
};

}  // namespace

CodecPointer extremes_apart(CodecPointer codec) {
  return std::make_shared<ExtremesApart>(std::move(codec));
}

}  // namespace fewbit::codecs

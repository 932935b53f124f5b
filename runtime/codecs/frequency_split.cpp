// Low frequencies as the means of blocks, what is left in few bits.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include <ATen/ops/avg_pool1d.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <c10/util/accumulate.h>

#include "codecs/codec.hpp"
#include "codecs/common.hpp"
#include "codecs/extremes.hpp"
#include "ops/group.hpp"
#include "ops/integers.hpp"

namespace fewbit::codecs {

namespace {

constexpr c10::string_view kRounding = "stochastic";

/// Dimensions before those of the plane: samples, channels.
constexpr int64_t kOutside = 2;

struct Split {
  int bits;
  int64_t block;
};

std::vector<int64_t> blocks_in(const at::Tensor& x, int64_t block) {
  std::vector<int64_t> blocks = x.sizes().slice(kOutside).vec();
  for (int64_t& size : blocks) size = std::min(size, block);
  return blocks;
}

/// At the block's place, smaller at the ends of the plane, in the rounding that is stored. Where
/// there is none, as of a NaN, 0: what is left tells of that, and other blocks do not suffer.
at::Tensor means(const at::Tensor& x, int64_t block) {
  const std::vector<int64_t> blocks = blocks_in(x, block);
  const auto pool = [&](const auto& average) {
    const at::Tensor mean = average(x, blocks, blocks, /*padding=*/0, /*ceil_mode=*/true,
                                    /*count_include_pad=*/false);
    const at::Tensor kept = mean.to(at::kBFloat16).contiguous();
    return kept.masked_fill(kept.sub(kept).ne(0.0), 0.0);
  };
  const auto pool1 = [](auto&&... of) { return at::avg_pool1d(of...); };
  const auto pool2 = [](auto&&... of) { return at::avg_pool2d(of...); };
  const auto pool3 = [](auto&&... of) { return at::avg_pool3d(of...); };
  return blocks.size() == 1 ? pool(pool1) : blocks.size() == 2 ? pool(pool2) : pool(pool3);
}

/// Every mean wherever its block is, in the sizes of x.
at::Tensor spread(const at::Tensor& means, const at::Tensor& x, int64_t block) {
  at::Tensor result = means;
  const std::vector<int64_t> blocks = blocks_in(x, block);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const int64_t dimension = kOutside + static_cast<int64_t>(i);
    std::vector<int64_t> sizes = result.sizes().vec();
    sizes.insert(sizes.begin() + dimension + 1, blocks[i]);
    result = result.unsqueeze(dimension + 1)
                 .expand(sizes)
                 .flatten(dimension, dimension + 1)
                 .narrow(dimension, 0, x.size(dimension));
  }
  return result;
}

/// Elements of a plane, so many groups that the next one begins with a new group.
struct Row {
  int64_t elements;
  int64_t group;

  explicit Row(const at::Tensor& x)
      : elements(c10::multiply_integers(x.sizes().slice(kOutside))),
        group(static_cast<int64_t>(
            std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(elements, 64, 1024))))) {}

  int64_t padded() const { return (elements + group - 1) / group * group; }
};

/// Codes of elements [rows, columns] in one stream, each in a byte.
at::Tensor integers_of(const at::Tensor& codes, int64_t rows, int64_t columns, int bits) {
  return ops::integer_decode(codes, rows * columns, 0, bits, at::kByte).view({rows, columns});
}

class SplitRun final : public Encoded {
 public:
  SplitRun(const Split& split, const at::Tensor& x, const RandomStream& random)
      : split_(split),
        shape_(x.sizes().vec()),
        strides_(x.strides().vec()),
        dtype_(x.scalar_type()),
        row_(x),
        rows_(x.size(0) * x.size(1)) {
    const at::Tensor in = x.to(computed_type());
    const at::Tensor low = means(in, split.block);
    const at::Tensor rows = at::empty({rows_, row_.padded()}, in.options());
    const at::Tensor rest = plane_of(rows);
    rest.copy_(in).sub_(spread(low, in, split.block));
    // Behind the end once more the last element, which is no news to its group.
    const int64_t behind = row_.padded() - row_.elements;
    rows.narrow(1, row_.elements, behind).copy_(rows.narrow(1, row_.elements - 1, 1));
    auto [codes, constants] =
        ops::group_encode(rows, split.bits, row_.group, kRounding, random.seed, random.offset);
    parts_ = {low, without_padding(codes), constants};
  }

  at::Tensor decoded() const override {
    const auto& [low, codes, constants] = parts_;
    const at::Tensor rows = ops::group_decode(with_padding(codes), constants, rows_ * row_.padded(),
                                              split_.bits, row_.group, kRounding, computed_type())
                                .view({rows_, row_.padded()});
    at::Tensor plane = plane_of(rows);
    const double largest = largest_of(dtype_);
    plane.add_(spread(low, plane, split_.block)).clamp_(-largest, largest);
    return flat(at::empty_strided(shape_, strides_, codes.options().dtype(dtype_)).copy_(plane));
  }

  at::TensorList tensors() const override { return parts_; }

 private:
  /// In it the means are taken off and added, and what is between is coded.
  at::ScalarType computed_type() const { return dtype_ == at::kDouble ? at::kDouble : at::kFloat; }

  /// x's elements, in the order of indices, without what is behind the end of each row.
  at::Tensor plane_of(const at::Tensor& rows) const {
    return rows.narrow(1, 0, row_.elements).view(shape_);
  }

  at::Tensor without_padding(const at::Tensor& codes) const {
    if (row_.padded() == row_.elements) return codes;
    const at::Tensor all = integers_of(codes, rows_, row_.padded(), split_.bits);
    return ops::integer_encode(all.narrow(1, 0, row_.elements).contiguous(), 0, split_.bits);
  }

  at::Tensor with_padding(const at::Tensor& codes) const {
    if (row_.padded() == row_.elements) return codes;
    const at::Tensor all = at::zeros({rows_, row_.padded()}, codes.options());
    all.narrow(1, 0, row_.elements).copy_(integers_of(codes, rows_, row_.elements, split_.bits));
    return ops::integer_encode(all, 0, split_.bits);
  }

  Split split_;
  std::vector<int64_t> shape_;
  std::vector<int64_t> strides_;
  at::ScalarType dtype_;
  Row row_;
  int64_t rows_;
  std::array<at::Tensor, 3> parts_;  // means, codes, constants
};

class FrequencySplit final : public Codec {
 public:
  explicit FrequencySplit(const Split& split) : split_(split) {}

  std::string name() const override { return "frequency split"; }
  double bits() const override { return split_.bits; }

  bool takes(const at::Tensor& x) const override {
    return is_real(x.scalar_type()) && x.dim() > kOutside && x.dim() <= kOutside + 3 &&
           x.numel() > 0;
  }

  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& random) const override {
    return std::make_shared<SplitRun>(split_, x, random);
  }

 private:
  Split split_;
};

}  // namespace

CodecPointer frequency_split(int bits, int64_t block) {
  TORCH_CHECK(block > 0, "fewbit::codecs::frequency_split: block is ", block,
              ", accepted: above 0");
  return extremes_apart(std::make_shared<FrequencySplit>(Split{bits, block}));
}

}  // namespace fewbit::codecs

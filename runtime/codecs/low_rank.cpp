// A few directions of channels apart, and the rest rotated.
#include <array>
#include <string>
#include <tuple>
#include <utility>

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include "codecs/codec.hpp"
#include "codecs/common.hpp"
#include "codecs/extremes.hpp"
#include "ops/activation.hpp"
#include "ops/rotated_low_rank.hpp"

namespace fewbit::codecs {

namespace {

/// Coefficients share constants with so many.
constexpr int64_t kGroupOfCoefficients = 256;

RotatedCodes form_of_coefficients(const Directions& directions) {
  return {directions.bits, kGroupOfCoefficients};
}

class LowRankRun final : public Encoded {
 public:
  LowRankRun(const RotatedCodes& form, const Directions& directions, const at::Tensor& x,
             const RandomStream& random)
      : form_(form),
        of_coefficients_(form_of_coefficients(directions)),
        place_(directions.place),
        count_(x.numel()),
        dtype_(x.scalar_type()),
        offset_(random.offset) {
    auto& [codes, constants, seed, basis, codes_there, constants_there] = parts_;
    seed = random.seed;
    basis = directions.basis;
    if (x.is_meta()) {  // bytes alone
      std::tie(codes, constants) = ops::rotated_encode(x, form, random);
      const at::Tensor coefficients =
          at::empty({coefficients_of(count_)}, x.options().dtype(at::kFloat));
      std::tie(codes_there, constants_there) =
          ops::rotated_encode(coefficients, of_coefficients_, random_there());
      return;
    }
    const at::Tensor run = flat(x);
    std::tie(codes_there, constants_there) = ops::rotated_encode(
        ops::low_rank_project(run, basis, place_), of_coefficients_, random_there());
    // As they come back: what is lost of them is in the rest.
    std::tie(codes, constants) = ops::rotated_encode(run, low_rank(0, count_), form, random);
  }

  at::Tensor decoded() const override {
    return ops::rotated_decode(parts_[0], parts_[1], count_, low_rank(0, count_), form_, dtype_,
                               {parts_[2], offset_});
  }

  bool has_parts() const override { return true; }

  at::Tensor decoded(int64_t begin, int64_t end) const override {
    const ops::Part part(begin, end, count_);
    return ops::rotated_decode(part.of_codes(parts_[0], form_.bits, count_),
                               part.of_constants(parts_[1], form_.group), part.count(),
                               low_rank(part.begin, part.end), form_, dtype_, {parts_[2], offset_},
                               part.begin)
        .slice(0, begin - part.begin, end - part.begin);
  }

  at::TensorList tensors() const override { return parts_; }

 private:
  int64_t coefficients_of(int64_t elements) const {
    return elements / place_.channels * parts_[3].size(0);
  }

  /// Others than those of the rest, or its error would depend on theirs.
  RandomStream random_there() const {
    constexpr int64_t kApart = int64_t{1} << 62;
    return {parts_[2], offset_ + kApart};
  }

  /// Of elements [begin, end), those of whole blocks.
  ops::LowRank low_rank(int64_t begin, int64_t end) const {
    const int64_t block = place_.block();
    const int64_t first = begin / block, last = (end + block - 1) / block;
    const int64_t all = coefficients_of(count_);
    const int64_t from = coefficients_of(first * block), to = coefficients_of(last * block);
    const ops::Part part(from, to, all);
    const at::Tensor coefficients =
        ops::rotated_decode(part.of_codes(parts_[4], of_coefficients_.bits, all),
                            part.of_constants(parts_[5], of_coefficients_.group), part.count(),
                            of_coefficients_, at::kFloat, random_there(), part.begin)
            .slice(0, from - part.begin, to - part.begin);
    return {parts_[3], coefficients, place_, begin - first * block};
  }

  RotatedCodes form_, of_coefficients_;
  ops::ChannelPlace place_;
  int64_t count_;
  at::ScalarType dtype_;
  int64_t offset_;
  std::array<at::Tensor, 6> parts_;  // codes, constants, seed; basis, codes and constants there
};

class LowRank final : public Codec {
 public:
  LowRank(const RotatedCodes& form, Directions directions)
      : form_(form), directions_(std::move(directions)) {}

  std::string name() const override {
    const at::Tensor& basis = directions_.basis;
    return basis.defined() ? "low rank of " + std::to_string(basis.size(0)) : "low rank";
  }
  double bits() const override { return static_cast<double>(form_.bits); }

  bool takes(const at::Tensor& x) const override {
    return directions_.basis.defined() && is_real(x.scalar_type()) &&
           x.scalar_type() != at::kDouble && x.numel() > 0 &&
           x.numel() % directions_.place.block() == 0;
  }

  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& random) const override {
    return std::make_shared<LowRankRun>(form_, directions_, x, random);
  }

 private:
  RotatedCodes form_;
  Directions directions_;
};

}  // namespace

double bits_of_directions(const Directions& directions, int64_t elements) {
  constexpr int64_t kConstants = 4;  // bytes of a group
  const int64_t places = elements / directions.place.channels;
  const int64_t groups =
      (places * directions.basis.size(0) + kGroupOfCoefficients - 1) / kGroupOfCoefficients;
  const int64_t bytes = ops::code_bytes(groups * kGroupOfCoefficients, directions.bits) +
                        groups * kConstants + static_cast<int64_t>(directions.basis.nbytes());
  return 8.0 * static_cast<double>(bytes) / static_cast<double>(elements);
}

CodecPointer low_rank(const RotatedCodes& form, Directions directions) {
  if (directions.basis.defined()) {
    TORCH_CHECK(directions.basis.size(1) == ops::basis_stride(directions.place.channels),
                "fewbit::codecs::low_rank: directions of ", directions.basis.size(1),
                " channels, accepted: as many as the elements have, ", directions.place.channels,
                ", rounded up to a multiple of 16");
  }
  return extremes_apart(std::make_shared<LowRank>(form, std::move(directions)));
}

}  // namespace fewbit::codecs

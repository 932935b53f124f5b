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

class LowRankRun final : public Encoded {
 public:
  LowRankRun(const RotatedCodes& form, const Directions& directions, const at::Tensor& x,
             const RandomStream& random)
      : form_{directions.place, directions.bits, form},
        count_(x.numel()),
        dtype_(x.scalar_type()),
        offset_(random.offset) {
    auto& [codes, constants, codes_there, constants_there, seed, basis] = parts_;
    seed = random.seed;
    basis = directions.basis;
    if (!x.is_meta()) {
      std::tie(codes, constants, codes_there, constants_there) =
          ops::low_rank_encode(flat(x), basis, form_, random);
      return;
    }
    // Bytes alone.
    std::tie(codes, constants) = ops::rotated_encode(x, form, random);
    const int64_t coefficients = count_ / directions.place.channels * basis.size(0);
    std::tie(codes_there, constants_there) =
        ops::rotated_encode(at::empty({coefficients}, x.options().dtype(at::kFloat)),
                            form_.coefficients(), ops::for_coefficients(random));
  }

  at::Tensor decoded() const override { return decoded(0, count_); }

  bool has_parts() const override { return true; }

  at::Tensor decoded(int64_t begin, int64_t end) const override {
    const auto& [codes, constants, codes_there, constants_there, seed, basis] = parts_;
    return ops::low_rank_decode({codes, constants, codes_there, constants_there}, basis, count_,
                                form_, dtype_, {seed, offset_}, begin, end);
  }

  at::TensorList tensors() const override { return parts_; }

 private:
  ops::LowRankForm form_;
  int64_t count_;
  at::ScalarType dtype_;
  int64_t offset_;
  std::array<at::Tensor, 6> parts_;  // codes and constants, those of coefficients; seed, basis
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
  const int64_t groups = (places * directions.basis.size(0) + ops::kGroupOfCoefficients - 1) /
                         ops::kGroupOfCoefficients;
  const int64_t bytes = ops::code_bytes(groups * ops::kGroupOfCoefficients, directions.bits) +
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

#include <array>
#include <tuple>
#include <utility>

#include "codecs/codec.hpp"
#include "codecs/common.hpp"
#include "codecs/extremes.hpp"
#include "codecs/small_runs.hpp"
#include "ops/extremes.hpp"

namespace fewbit::codecs {

namespace {

class RotatedRun final : public Encoded {
 public:
  /// has_suspects: asked for where it is not null.
  RotatedRun(const ops::RotatedCodes& form, const at::Tensor& x, const RandomStream& random,
             bool* has_suspects = nullptr)
      : form_(form), count_(x.numel()), dtype_(x.scalar_type()), offset_(random.offset) {
    auto [codes, constants] = has_suspects == nullptr
                                  ? ops::rotated_encode(x, form, random)
                                  : ops::rotated_encode(x, form, random, *has_suspects);
    parts_ = {codes, constants, random.seed};
  }

  at::Tensor decoded() const override {
    return ops::rotated_decode(parts_[0], parts_[1], count_, form_, dtype_, {parts_[2], offset_});
  }

  bool has_parts() const override { return true; }

  at::Tensor decoded(int64_t begin, int64_t end) const override {
    const ops::Part part(begin, end, count_);
    return part.elements(
        ops::rotated_decode(part.of_codes(parts_[0], form_.bits, count_),
                            part.of_constants(parts_[1], form_.group), part.count(), form_, dtype_,
                            {parts_[2], offset_}, part.begin),
        begin, end);
  }

  at::TensorList tensors() const override { return parts_; }

 private:
  ops::RotatedCodes form_;
  int64_t count_;
  at::ScalarType dtype_;
  int64_t offset_;
  std::array<at::Tensor, 3> parts_;  // codes, constants, seed
};

class Rotated final : public Codec {
 public:
  explicit Rotated(const ops::RotatedCodes& form) : form_(form) {}

  std::string name() const override { return "rotated"; }
  double bits() const override { return static_cast<double>(form_.bits); }

  bool takes(const at::Tensor& x) const override { return is_real(x.scalar_type()); }

  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& random) const override {
    return std::make_shared<RotatedRun>(form_, x, random);
  }

  std::shared_ptr<const Encoded> encode_among(SmallRuns& others, const at::Tensor& x,
                                              const RandomStream& random) const override {
    return SmallRuns::takes(x, form_) ? others.encode(form_, x, random) : encode(x, random);
  }

  Watched encode_watched(const at::Tensor& x, const RandomStream& random) const override {
    // Of a larger group an extreme may be less, and of a smaller one any element more.
    if (form_.group != ops::kNeighbours) return {nullptr, true};
    bool has_suspects = true;
    auto run = std::make_shared<RotatedRun>(form_, x, random, &has_suspects);
    return {std::move(run), has_suspects};
  }

 private:
  ops::RotatedCodes form_;
};

}  // namespace

CodecPointer rotated(const RotatedCodes& form) {
  return extremes_apart(std::make_shared<Rotated>(form));
}

}  // namespace fewbit::codecs

#include <array>
#include <tuple>

#include "codecs/codec.hpp"
#include "codecs/common.hpp"

namespace fewbit::codecs {

namespace {

struct Format {
  int bits;
  int64_t group;
};

class RotatedRun final : public Encoded {
 public:
  RotatedRun(const Format& format, const at::Tensor& x, const RandomStream& random)
      : format_(format), count_(x.numel()), dtype_(x.scalar_type()), offset_(random.offset) {
    auto [codes, constants] = ops::rotated_encode(x, format.bits, format.group, random);
    parts_ = {codes, constants, random.seed};
  }

  at::Tensor decoded() const override {
    return ops::rotated_decode(parts_[0], parts_[1], count_, format_.bits, format_.group, dtype_,
                               {parts_[2], offset_});
  }

  at::TensorList tensors() const override { return parts_; }

 private:
  Format format_;
  int64_t count_;
  at::ScalarType dtype_;
  int64_t offset_;
  std::array<at::Tensor, 3> parts_;  // codes, constants, seed
};

class Rotated final : public Codec {
 public:
  explicit Rotated(Format format) : format_(format) {}

  std::string name() const override { return "rotated, " + bits_text(format_.bits); }

  bool takes(const at::Tensor& x) const override { return is_real(x.scalar_type()); }

  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& random) const override {
    return std::make_shared<RotatedRun>(format_, x, random);
  }

 private:
  Format format_;
};

}  // namespace

CodecPointer rotated(int bits, int64_t group) {
  return std::make_shared<Rotated>(Format{bits, group});
}

double rotated_error(int bits) {
  return ops::rotated_error(bits);
}

}  // namespace fewbit::codecs

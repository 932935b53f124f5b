#include <array>

#include "codecs/codec.hpp"
#include "codecs/common.hpp"
#include "ops/group.hpp"

namespace fewbit::codecs {

namespace {

// What comes back does not depend on how it was rounded, and takes no random numbers.
constexpr const char* kEncoding = "stochastic";
constexpr const char* kDecoding = "nearest";

struct Format {
  int bits;
  int64_t group;
};

class GroupedRun final : public Encoded {
 public:
  GroupedRun(const Format& format, const at::Tensor& x, const RandomStream& random)
      : format_(format), count_(x.numel()), dtype_(x.scalar_type()) {
    auto [codes, constants] =
        ops::group_encode(x, format.bits, format.group, kEncoding, random.seed, random.offset);
    parts_ = {codes, constants};
  }

  at::Tensor decoded() const override {
    return ops::group_decode(parts_[0], parts_[1], count_, format_.bits, format_.group, kDecoding,
                             dtype_);
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

  std::string name() const override { return "group, " + bits_text(format_.bits); }

  bool takes(const at::Tensor& x) const override { return is_real(x.scalar_type()); }

  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& random) const override {
    return std::make_shared<GroupedRun>(format_, x, random);
  }

 private:
  Format format_;
};

}  // namespace

CodecPointer grouped(int bits, int64_t group) {
  return std::make_shared<Grouped>(Format{bits, group});
}

}  // namespace fewbit::codecs

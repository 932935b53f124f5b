// What is left of elements once the class of each is known, rotated.
#include "ops/rotated_by_class.hpp"

#include <array>
#include <tuple>
#include <utility>

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include "codecs/codec.hpp"
#include "codecs/common.hpp"
#include "codecs/extremes.hpp"

namespace fewbit::codecs {

namespace {

class ByClassRun final : public Encoded {
 public:
  ByClassRun(const ops::RotatedCodes& form, Classes classes, const at::Tensor& x,
             const RandomStream& random)
      : form_(form),
        classes_(std::move(classes)),
        count_(x.numel()),
        dtype_(x.scalar_type()),
        offset_(random.offset) {
    parts_[2] = random.seed;
    if (x.is_meta()) {  // bytes alone
      std::tie(parts_[0], parts_[1]) = ops::rotated_encode(x, form, random);
      parts_[3] = at::empty({2, classes_.count}, x.options().dtype(computed_type()));
      return;
    }
    const at::Tensor run = flat(x);
    const ops::ElementClasses of_elements = classes_.of_elements();
    ops::ClassMaps maps = ops::class_maps(run, of_elements, classes_.count, classes_.zero);
    std::tie(parts_[0], parts_[1]) =
        ops::rotated_encode(run, of_elements, maps.there, form, random);
    parts_[3] = std::move(maps.back);
  }

  at::Tensor decoded() const override {
    const auto& [codes, constants, seed, maps] = parts_;
    return ops::rotated_decode(codes, constants, count_, classes_.of_elements(), maps, form_,
                               dtype_, {seed, offset_});
  }

  bool has_parts() const override { return classes_.of_part != nullptr; }

  at::Tensor decoded(int64_t begin, int64_t end) const override {
    const ops::Part part(begin, end, count_);
    const auto& [codes, constants, seed, maps] = parts_;
    return part.elements(ops::rotated_decode(part.of_codes(codes, form_.bits, count_),
                                             part.of_constants(constants, form_.group),
                                             part.count(), classes_.of_part(part), maps, form_,
                                             dtype_, {seed, offset_}, part.begin),
                         begin, end);
  }

  at::TensorList tensors() const override { return parts_; }

 private:
  at::ScalarType computed_type() const { return dtype_ == at::kDouble ? at::kDouble : at::kFloat; }

  ops::RotatedCodes form_;
  Classes classes_;
  int64_t count_;
  at::ScalarType dtype_;
  int64_t offset_;
  std::array<at::Tensor, 4> parts_;  // codes, constants, seed, what maps back
};

class RotatedByClass final : public Codec {
 public:
  RotatedByClass(const ops::RotatedCodes& form, Classes classes)
      : form_(form), classes_(std::move(classes)) {}

  std::string name() const override { return "rotated by class"; }
  double bits() const override { return static_cast<double>(form_.bits); }

  bool takes(const at::Tensor& x) const override {
    return classes_.count > 0 && is_real(x.scalar_type()) && x.numel() > 0;
  }

  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& random) const override {
    return std::make_shared<ByClassRun>(form_, classes_, x, random);
  }

 private:
  ops::RotatedCodes form_;
  Classes classes_;
};

}  // namespace

CodecPointer rotated_by_class(const RotatedCodes& form, Classes classes) {
  TORCH_CHECK(classes.count <= ops::kMostClasses,
              "fewbit::codecs::rotated_by_class: ", classes.count, " classes, accepted: at most ",
              ops::kMostClasses);
  return extremes_apart(std::make_shared<RotatedByClass>(form, std::move(classes)));
}

}  // namespace fewbit::codecs

#include "compression/recompute/known_classes.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>
#include <vector>

#include <ATen/ops/zeros.h>
#include <c10/util/accumulate.h>

#include "compression/operators/operator.hpp"
#include "ops/activation.hpp"
#include "ops/activation_arguments.hpp"
#include "ops/integers.hpp"

namespace fewbit::session {

namespace {

/// Of codes of more bits there are more classes than are mapped.
constexpr int kMostClassBits = std::bit_width(static_cast<unsigned>(ops::kMostClasses)) - 1;

struct Layout {
  std::vector<int64_t> sizes, strides;

  explicit Layout(const at::Tensor& tensor)
      : sizes(tensor.sizes().vec()), strides(tensor.strides().vec()) {}
};

/// Of classes, one a byte, as they are to lie in memory.
ops::ElementClasses stream_of(const at::Tensor& each, at::IntArrayRef strides) {
  constexpr int kBits = 8;
  const at::Tensor stream = at::zeros({ops::code_bytes(each.numel(), kBits)}, each.options());
  stream.as_strided(each.sizes(), strides).copy_(each);
  return {stream, kBits};
}

/// What `make` makes of the classes as they lie in `from`, to lie so.
template <class Make>
std::function<ops::ElementClasses()> remade(std::function<ops::ElementClasses()> of_elements,
                                            const Layout& from, const at::Tensor& to,
                                            const Make& make) {
  return [before = std::move(of_elements), from, strides = to.strides().vec(), make] {
    const at::Tensor each =
        before().bytes(c10::multiply_integers(from.sizes)).as_strided(from.sizes, from.strides);
    return stream_of(make(each), strides);
  };
}

/// Classes, one a byte, of which those are `zero` where the mask is.
at::Tensor dropped(const at::Tensor& each, const at::Tensor& mask, int zero) {
  const at::Tensor kept = ops::integer_decode(ops::sign_encode(mask), mask.numel(), 0, 1, at::kByte)
                              .as_strided(mask.sizes(), mask.strides());
  return each.sub(zero).mul_(kept).add_(zero);
}

/// Of 2^bits neighbours one.
codecs::Classes merged(codecs::Classes classes, int64_t elements, int bits) {
  classes.count = ((classes.count - 1) >> bits) + 1;
  classes.zero.reset();
  const auto merge = [bits](const ops::ElementClasses& of, int64_t count) {
    return stream_of(of.bytes(count).bitwise_right_shift_(bits), {1});
  };
  classes.of_elements = [before = std::move(classes.of_elements), merge, elements] {
    return merge(before(), elements);
  };
  if (!classes.of_part) return classes;
  classes.of_part = [before = std::move(classes.of_part), merge](const ops::Part& part) {
    return merge(before(part), part.count());
  };
  return classes;
}

/// What is dropped is 0, whatever it was.
codecs::Classes dropped(codecs::Classes classes, const at::Tensor& result, const Again& mask) {
  if (!classes.zero && classes.count == ops::kMostClasses) {
    classes = merged(std::move(classes), result.numel(), 1);
  }
  const int zero = classes.zero.value_or(classes.count);
  classes.count = std::max(classes.count, zero + 1);
  classes.zero = zero;
  const Layout layout(result);
  classes.of_elements = remade(
      std::move(classes.of_elements), layout, result,
      [mask = mask.tensor, zero](const at::Tensor& each) { return dropped(each, mask(), zero); });
  const bool is_alike = mask.sizes == layout.sizes && mask.strides == layout.strides;
  if (!mask.elements || !is_alike) classes.of_part = nullptr;
  if (!classes.of_part) return classes;
  classes.of_part = [before = std::move(classes.of_part), mask = mask.elements,
                     zero](const ops::Part& part) {
    const at::Tensor each = before(part).bytes(part.count());
    return stream_of(dropped(each, mask(part.begin, part.end), zero), {1});
  };
  return classes;
}

/// The greatest of a window is of the class that it was of.
codecs::Classes pooled(codecs::Classes classes, const RecordedCall& call, const Again& places) {
  const at::Tensor from = call.arguments[0].toTensor(), result = call.results[0].toTensor();
  const int64_t plane = call.operation.find("3d") == std::string_view::npos ? -2 : -3;
  classes.of_part = nullptr;
  classes.of_elements =
      remade(std::move(classes.of_elements), Layout(from), result,
             [places = places.tensor, plane](const at::Tensor& each) {
               const at::Tensor index = places();
               return each.flatten(plane).gather(-1, index.flatten(plane)).view(index.sizes());
             });
  return classes;
}

bool is_laid_out_alike(const at::Tensor& one, const at::Tensor& other) {
  return one.sizes() == other.sizes() && one.strides() == other.strides() &&
         one.scalar_type() == other.scalar_type();
}

}  // namespace

std::optional<codecs::Classes> KnownClasses::of_activation(
    const std::vector<c10::IValue>& arguments, const Again& codes) {
  if (arguments.size() <= ops::kLevelsArgument) return std::nullopt;
  const std::vector<double> levels = arguments[ops::kLevelsArgument].toDoubleVector();
  const auto bits = static_cast<int>(std::bit_width(levels.size() - 1));
  if (bits < 1) return std::nullopt;
  codecs::Classes classes;
  classes.count = static_cast<int>(levels.size());
  classes.of_elements = [codes = codes.tensor, bits] { return ops::ElementClasses{codes(), bits}; };
  const int64_t elements = arguments[0].toTensor().numel();
  classes.of_part = [codes = codes.tensor, bits, elements](const ops::Part& part) {
    return ops::ElementClasses{part.of_codes(codes(), bits, elements), bits};
  };
  if (arguments[ops::kFunctionArgument].toStringRef() == "relu") {
    const auto zero = std::ranges::find(levels, 0.0);
    if (zero != levels.end()) classes.zero = static_cast<int>(zero - levels.begin());
  }
  if (bits > kMostClassBits) return merged(std::move(classes), elements, bits - kMostClassBits);
  return classes;
}

std::optional<codecs::Classes> KnownClasses::classes_of(const RecordedCall& call,
                                                        const Beside& beside) const {
  if (call.operation == kActivation) {
    return beside.codes ? of_activation(call.arguments, *beside.codes) : std::nullopt;
  }
  const bool is_copy = follows(call.operation);
  if (!is_copy && !beside.mask && !beside.places) return std::nullopt;
  const c10::IValue& from = call.arguments[is_copy ? 1 : 0];
  const at::Tensor result = call.results[0].toTensor();
  if (!from.isTensor()) return std::nullopt;
  std::optional<codecs::Classes> classes = find(from.toTensor());
  if (!classes) return std::nullopt;
  if (beside.places) return pooled(std::move(*classes), call, *beside.places);
  if (!is_laid_out_alike(from.toTensor(), result)) return std::nullopt;
  return is_copy ? classes : dropped(std::move(*classes), result, *beside.mask);
}

void KnownClasses::end_call(const RecordedCall& call, const Beside& beside) {
  std::optional<codecs::Classes> classes = classes_of(call, beside);
  if (!classes) return;
  const at::Tensor result = call.results[0].toTensor();
  if (!may_be_followed(result)) return;
  std::erase_if(known_, [](const auto& known) { return known.second.contents.is_gone(); });
  Contents contents(result);
  const void* memory = contents.memory();
  known_.insert_or_assign(memory, Known{std::move(contents), std::move(*classes)});
}

std::optional<codecs::Classes> KnownClasses::known(const at::Tensor& tensor) const {
  if (!may_be_followed(tensor)) return std::nullopt;
  const auto found = known_.find(address_of(tensor));
  if (found == known_.end()) return std::nullopt;
  const auto& [contents, classes] = found->second;
  if (tensor.numel() != contents.count() || !contents.place_of(tensor)) return std::nullopt;
  return classes;
}

}  // namespace fewbit::session

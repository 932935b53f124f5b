#include "compression/operators/consumer.hpp"

#include <algorithm>
#include <array>

namespace fewbit::session {

namespace {

/// So many elements share the constants of their codes at least: what is a sum over as many does
/// not tell one from its neighbours.
constexpr int64_t kMany = 64;

/// One that is not known passes errors on, and is nothing else.
const Operator& like(std::string_view operation) {
  static const Operator unknown;
  const Operator* known = find_operator_like(operation);
  return known == nullptr ? unknown : *known;
}

bool has_few_rows(const RecordedCall& call) {
  return count_of(call.results[0]) * kMany <= count_of(call.arguments[0]);
}

/// Whether the argument is as large as the other and has a gradient: it may fall as that one does.
bool scales(const c10::IValue& argument, const c10::IValue& other) {
  if (!argument.isTensor() || !argument.toTensor().requires_grad()) return false;
  return count_of(argument) * kMany > count_of(other);
}

/// Whether both have a gradient, element by element.
bool are_alike(const c10::IValue& one, const c10::IValue& other) {
  if (!one.isTensor() || !other.isTensor()) return false;
  return one.toTensor().requires_grad() && other.toTensor().requires_grad() &&
         one.toTensor().sizes() == other.toTensor().sizes();
}

/// Whether it weighs by a sum over products, as by a vector.
bool weighs_in_sum(const RecordedCall& call, const void* memory) {
  const auto is_weight = [&](const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.numel() < 2 || address_of(tensor) == memory) {
      return false;
    }
    const at::IntArrayRef sizes = tensor.sizes();
    const int64_t longest = *std::max_element(sizes.begin(), sizes.end());
    return !tensor.requires_grad() && longest == tensor.numel();
  };
  return std::ranges::any_of(call.arguments, [&](const c10::IValue& argument) {
    if (argument.isTensor()) return is_weight(argument.toTensor());
    return argument.isTensorList() && std::ranges::any_of(argument.toTensorVector(), is_weight);
  });
}

/// The derivative of such a power has no bound.
bool has_pole(const c10::IValue& exponent) {
  return !exponent.isScalar() || exponent.toScalar().toDouble() < 1.0;
}

bool weighs(const Operator& by, const RecordedCall& call) {
  if (by.first_factor.empty()) return false;
  const size_t first = by.place_of(by.first_factor);
  return count_of(call.arguments[first]) > 1 && count_of(call.arguments[first + 1]) > 1;
}

/// By the errors of what lies in a memory.
class ConsumerOf {
 public:
  ConsumerOf(const Operator& by, const RecordedCall& call, const void* memory, Factor factor)
      : by_(by),
        call_(call),
        memory_(memory),
        is_square_(factor == Factor::square),
        is_power_(factor == Factor::power),
        is_input_(factor == Factor::input),
        is_probability_(factor == Factor::probability) {}

  Consumer find() const {
    if (is_square_ && by_.sums_products && weighs_in_sum(call_, memory_)) return Consumer::divides;
    const std::optional<Consumer> effect = by_effect();
    if (effect) return *effect;
    if (is_square_ && weighs(by_, call_)) return Consumer::divides;
    if (!by_.divisor.empty()) return by_divisor();
    if (is_input_ && by_.turns_often) return Consumer::divides;
    // As in an entropy, where the other grows as this one falls.
    const bool is_entropy =
        is_probability_ && by_.name == "mul" && are_alike(call_.arguments[0], call_.arguments[1]);
    return is_entropy ? Consumer::divides : Consumer::passes;
  }

 private:
  bool takes_at(size_t i) const {
    return i < call_.arguments.size() && lies_in(call_.arguments[i], memory_);
  }

  static std::optional<Consumer> divides_if(bool is_so) {
    return is_so ? std::optional(Consumer::divides) : std::nullopt;
  }

  /// Nothing where other things decide.
  std::optional<Consumer> by_effect() const {
    const bool is_curved = is_square_ || is_input_;
    switch (by_.effect) {
      case Effect::sums:
        return Consumer::sums;
      case Effect::selects:
        return is_curved ? Consumer::divides : Consumer::sums;
      case Effect::divides:
        return Consumer::divides;
      case Effect::reduces:
        if (call_.results.empty() || !has_few_rows(call_)) return std::nullopt;
        // A loss of powers would have their errors in its gradient.
        return is_power_ ? Consumer::divides : Consumer::sums;
      case Effect::roots:
        if (call_.results.empty()) return std::nullopt;
        return has_few_rows(call_) ? Consumer::sums : Consumer::divides;
      case Effect::raises:
        return divides_if((takes_at(0) && has_pole(call_.arguments[1])) ||
                          (is_square_ && takes_at(1)));
      case Effect::curves:
        return divides_if(is_square_);
      case Effect::steepens:
        return divides_if(is_curved);
      case Effect::passes:
        return std::nullopt;
    }
    return std::nullopt;
  }

  Consumer by_divisor() const {
    const size_t divisor = by_.place_of(by_.divisor);
    const bool is_divided =
        takes_at(divisor) || scales(call_.arguments[divisor], call_.arguments[0]);
    return is_divided ? Consumer::divides : Consumer::passes;
  }

  const Operator& by_;
  const RecordedCall& call_;
  const void* memory_;
  bool is_square_, is_power_, is_input_, is_probability_;
};

}  // namespace

bool lies_in(const c10::IValue& value, const void* memory) {
  if (value.isTensor()) {
    return value.toTensor().defined() && address_of(value.toTensor()) == memory;
  }
  if (!value.isTensorList()) return false;
  return std::ranges::any_of(value.toTensorVector(), [&](const at::Tensor& tensor) {
    return tensor.defined() && address_of(tensor) == memory;
  });
}

int64_t count_of(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() ? value.toTensor().numel() : 1;
}

bool weighs(const RecordedCall& call) {
  return weighs(like(call.operation), call);
}

Consumer consumer_of(const RecordedCall& call, const void* memory, Factor factor) {
  return ConsumerOf(like(call.operation), call, memory, factor).find();
}

bool is_division(std::string_view operation) {
  const Operator& by = like(operation);
  return by.effect == Effect::divides || by.effect == Effect::roots || !by.divisor.empty();
}

bool is_layer(std::string_view operation) {
  return like(operation).effect == Effect::sums;
}

bool is_norm_of_channels(std::string_view operation) {
  return like(operation).is_norm_of_channels;
}

bool is_reduction(std::string_view operation) {
  return like(operation).effect == Effect::reduces;
}

bool is_scaling(std::string_view operation) {
  return like(operation).is_scaling;
}

bool is_choice(const RecordedCall& call) {
  const Operator& by = like(call.operation);
  // By a rounding mode.
  const auto is_text = [](const c10::IValue& argument) { return argument.isString(); };
  return by.is_choice || (by.name == "div" && std::ranges::any_of(call.arguments, is_text));
}

}  // namespace fewbit::session

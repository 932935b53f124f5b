#include "meter/saved_call.hpp"

#include <utility>

#include <c10/core/ScalarType.h>

#include "codecs/codec.hpp"
#include "dispatch/activation_call.hpp"
#include "ops/activation.hpp"
#include "ops/coded_call.hpp"
#include "text/names.hpp"

namespace fewbit::session {
namespace {

// Torch's own activation.
class SavedActivation final : public SavedCall {
 public:
  SavedActivation(ActivationCall call, const at::Tensor& x)
      : call_(std::move(call)), replaceable_(reason_against(x, call_.function) == nullptr) {}

  std::optional<Replacement> replacement(Bits bits, const Storages& kept) const override {
    if (!replaceable_) return std::nullopt;
    std::string reason;
    const auto table = standard_or_reason(call_.function, bits, call_.parameters, reason);
    if (!table) return std::nullopt;
    const int width = table->bits();
    Replacement result;
    result.frees = kept;
    result.keeps_bytes = ops::code_bytes(elements, width);
    result.text = codecs::bits_text(width) + (width == 1 ? " saves" : " save");
    result.element_bits = width;
    result.exact = table->data().error == 0.0;
    if (reason_for_rule(call_.function) != nullptr) {
      result.request =
          "in a scope by rule(\"" + call_.function + "\", Bits{" + std::to_string(width) + "})";
    } else {
      result.refusal = "leave_alone(\"" + call_.function + "\")";
    }
    return result;
  }

 private:
  ActivationCall call_;
  bool replaceable_;
};

void describe(SavedCall& call, const std::string& name, const at::Tensor& x) {
  call.text = name + " " + shape_text(shape_of(x)) + " " + c10::toString(x.scalar_type());
  call.elements = x.numel();
  call.input_bytes = call.elements * static_cast<std::int64_t>(x.element_size());
}

}  // namespace

std::shared_ptr<const SavedCall> saved_call(std::string_view operation,
                                            c10::ArrayRef<const c10::IValue> arguments) {
  if (arguments.empty() || !arguments[0].isTensor()) return nullptr;
  const at::Tensor& x = arguments[0].toTensor();
  if (!x.defined()) return nullptr;
  if (const auto coded = ops::coded_call(operation, arguments)) {
    auto call = std::make_shared<SavedCall>();
    describe(*call, coded->name, x);
    call->coded_bits = coded->bits;
    return call;
  }
  auto activation = activation_call(operation, arguments);
  if (!activation || activation->obstacle != nullptr) return nullptr;
  const std::string name = activation->function;
  auto call = std::make_shared<SavedActivation>(std::move(*activation), x);
  describe(*call, name, x);
  call->in_place = is_in_place(operation);
  return call;
}

}  // namespace fewbit::session

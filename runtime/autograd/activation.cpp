#include "ops/activation.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "autograd/once_differentiable.hpp"
#include "ops/exact_gradient.hpp"
#include "ops/layout.hpp"
#include "ops/table_arguments.hpp"

namespace fewbit::autograd {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr const char* kActivation = "fewbit::activation";

/// Keeps the codes, and the table's levels as numbers; x and y may go.
class FewBitActivation : public torch::autograd::Function<FewBitActivation> {
 public:
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    // libtorch hands over what it held itself: one owner is this list.
    const at::Tensor& dy = gradients[0];
    if (!dy.defined()) return {at::Tensor()};
    const variable_list saved = context->get_saved_variables();
    const bool differentiated_again = at::GradMode::is_enabled();
    at::Tensor dx;
    {
      const at::AutoDispatchBelowADInplaceOrView guard;
      dx = gradient(context->saved_data, dy, saved[0]);
    }
    if (differentiated_again) {
      refuse_double_backward(dx, dy,
                             std::string(kActivation) +
                                 ": double backward is not possible: only few bits of f'(x) were "
                                 "kept, and nothing of f''(x); use torch's own activation there");
    }
    return {dx};
  }

 private:
  /// kept: codes, or numbers where whoever replaces saved tensors found that these serve better.
  static at::Tensor gradient(const ska::flat_hash_map<std::string, c10::IValue>& data,
                             const at::Tensor& dy, const at::Tensor& kept) {
    const bool has_one_owner = ops::has_one_owner(dy);
    const at::Tensor laid = laid_out(dy, data.at("strides").toSymIntVector());
    if (kept.is_floating_point()) {
      return ops::exact_gradient(laid, kept, data.at("function").toStringRef(),
                                 data.at("parameters").toDoubleVector(),
                                 data.at("in_place").toBool());
    }
    const std::vector<double> levels = data.at("levels").toDoubleVector();
    const bool is_ours = laid.is_same(dy) ? has_one_owner : ops::has_one_owner(laid);
    if (!is_ours || at::GradMode::is_enabled()) return ops::activation_backward(laid, kept, levels);
    ops::activation_backward_(laid, kept, levels);
    return laid;
  }
};

at::Tensor value_only(const at::Tensor& x, const ops::ActivationArguments& arguments) {
  return ops::activation_value(x, arguments.function, arguments.parameters);
}

bool has_codes_in_parts(const at::Tensor& x, const ops::ActivationArguments& arguments) {
  const bool has_numbers = !x.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
  // A part would draw anew.
  return has_numbers && x.is_non_overlapping_and_dense() && !arguments.table.is_unbiased();
}

/// What is computed beside them takes the memory of a part.
at::Tensor codes_alone(const at::Tensor& x, const ops::ActivationArguments& arguments) {
  const int64_t at_once =
      x.is_cpu() ? (int64_t{1} << 16) * at::get_num_threads() : int64_t{1} << 23;
  const int bits = ops::bits_of(arguments.table.levels.size());
  const at::Tensor run = ops::seen_as(x, {x.numel()}, {1});
  at::Tensor codes = at::empty({ops::code_bytes(x.numel(), bits)}, x.options().dtype(at::kByte));
  for (int64_t first = 0; first < x.numel(); first += at_once) {
    const at::Tensor part = ops::slice_of(run, first, std::min(first + at_once, x.numel()));
    const at::Tensor of_part = std::get<1>(ops::activation_forward(part, arguments));
    const int64_t byte = first * bits / 8;
    ops::slice_of(codes, byte, byte + of_part.numel()).copy_(of_part);
  }
  return codes;
}

at::Tensor activation(const at::Tensor& x, const ops::ActivationArguments& arguments) {
  refuse_forward_mode(kActivation, x);
  if (!needs_gradient(x)) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    return value_only(x, arguments);
  }
  const auto note = [&](AutogradContext& context, const at::Tensor& y) {
    context.saved_data["levels"] = arguments.table.levels.vec();
    context.saved_data["strides"] = y.sym_strides();
    if (ops::exact_gradient_of(arguments.function, arguments.parameters)) {
      context.saved_data["function"] = std::string(arguments.function);
      context.saved_data["parameters"] = arguments.parameters.vec();
      context.saved_data["in_place"] = arguments.run.in_place;
    }
    return y;
  };
  if (arguments.run.codes_first && has_codes_in_parts(x, arguments)) {
    return recorded<FewBitActivation>(
        x,
        [&](AutogradContext& context) { context.save_for_backward({codes_alone(x, arguments)}); },
        [&](AutogradContext& context) { return note(context, value_only(x, arguments)); });
  }
  return recorded<FewBitActivation>(x, [&](AutogradContext& context) {
    auto [y, codes] = ops::activation_forward(x, arguments);
    context.save_for_backward({codes});
    return note(context, y);
  });
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, Autograd, m) {
  m.impl("activation", ops::unpacked<activation>);
}

TORCH_LIBRARY_IMPL(fewbit, CompositeExplicitAutograd, m) {
  m.impl("activation", ops::unpacked<value_only>);
}

}  // namespace fewbit::autograd

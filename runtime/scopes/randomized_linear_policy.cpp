#include "scopes/randomized_linear_policy.hpp"

#include <algorithm>
#include <utility>

#include <ATen/core/grad_mode.h>

#include "dispatch/activation_call.hpp"
#include "dispatch/policy_stack.hpp"
#include "ops/randomized_linear.hpp"
#include "text/names.hpp"
#include "trace/model_parameters.hpp"

namespace fewbit::session {

namespace {

/// Null where the layer is taken, if `kept` of `rows` are fewer.
const char* obstacle_to(const LinearCall& call, int64_t rows, int64_t kept) {
  if (!at::GradMode::is_enabled()) return "keeps nothing: no gradient asked";
  if (!call.factor.requires_grad()) return "keeps no input: its weight is frozen";
  if (!call.x.requires_grad()) return "its input gets no gradient: the program holds it";
  if (const char* reason = reason_against(call.x)) return reason;
  const at::Tensor& weight = call.factor;
  if (weight.layout() != at::kStrided || weight.is_nested()) return "its weight is not strided";
  if (weight._fw_grad(0).defined()) return "forward-mode differentiation";
  return kept < rows ? nullptr : "no more rows than would be kept";
}

/// 0 where it is no matter of rows.
int64_t rows_of(const at::Tensor& x) {
  if (x.layout() != at::kStrided || x.is_nested()) return 0;
  const int64_t width = x.size(-1);
  return width == 0 ? 0 : x.numel() / width;
}

}  // namespace

void RandomizedLinearPolicy::name(const std::string& name, const at::Tensor& parameter) {
  names_[parameter.unsafeGetTensorImpl()] = name;
}

std::string RandomizedLinearPolicy::name_of(const at::Tensor& factor) const {
  const at::Tensor root = factor.is_view() ? at::Tensor(factor._base()) : factor;
  const auto found = names_.find(root.unsafeGetTensorImpl());
  return found == names_.end() ? "" : found->second;
}

bool RandomizedLinearPolicy::is_layer(const Call& call, const LinearCall& linear) const {
  return call.name() == "aten::linear" || is_of_model(linear.factor) ||
         !name_of(linear.factor).empty();
}

std::optional<Substitute> RandomizedLinearPolicy::decide(const Call& call) {
  if (auto substitute = substitute_for(call)) return substitute;
  Policy* const asked = PolicyStack::below(*this);
  return asked == nullptr ? std::nullopt : asked->decide(call);
}

std::optional<Substitute> RandomizedLinearPolicy::substitute_for(const Call& call) {
  const auto linear = linear_call(call.name(), call.arguments);
  if (!linear || !is_layer(call, *linear)) return std::nullopt;
  const int64_t rows = rows_of(linear->x);
  const int64_t kept = ops::kept_rows(rows, options_);
  const char* const obstacle = obstacle_to(*linear, rows, kept);
  const std::string name = name_of(linear->factor);
  note({name.empty() ? shape_text(shape_of(linear->weight())) : name,
        obstacle == nullptr ? ops::name_of(options_.projection) : obstacle, obstacle == nullptr, 1,
        rows, obstacle == nullptr ? kept : 0});
  if (obstacle != nullptr) return std::nullopt;
  return [operation = std::string(call.name()), options = options_](Arguments given) {
    const LinearCall again = *linear_call(operation, given);
    return torch::jit::Stack{randomized_linear(again.x, again.weight(), again.bias, options)};
  };
}

void RandomizedLinearPolicy::note(Entry met) {
  const auto entry = std::ranges::find_if(entries_, [&](const Entry& known) {
    return known.layer == met.layer && known.outcome == met.outcome;
  });
  if (entry == entries_.end()) {
    entries_.push_back(std::move(met));
    return;
  }
  ++entry->calls;
  entry->rows = met.rows;
  entry->kept = met.kept;
}

}  // namespace fewbit::session

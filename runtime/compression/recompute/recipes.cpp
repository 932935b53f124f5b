#include "compression/recompute/recipes.hpp"

#include <utility>

namespace fewbit::session {

namespace {

/// A copied parameter has at least so many times fewer elements than the result.
constexpr int64_t kFewer = 16;

using Values = std::vector<c10::IValue>;

/// Without the graph, which a recipe must not hold; versions go on being the tensors' own.
Values detached(const Values& values) {
  Values result = values;
  for (c10::IValue& value : result) {
    if (value.isTensor() && value.toTensor().defined()) value = value.toTensor().tensor_data();
  }
  return result;
}

/// Puts a copy in the place of each small parameter. Nothing where one is not that.
std::optional<std::vector<at::Tensor>> copy_parameters(const Operator& by, const RecordedCall& call,
                                                       const IsOfModel& is_of_model,
                                                       const CopyOf& copy_of, Values& arguments) {
  std::vector<at::Tensor> copies;
  const NamedArguments given(by, call.arguments);
  for (const std::string_view name : by.recomputation.copies) {
    const at::Tensor parameter = given.tensor(name);
    if (!parameter.defined()) continue;
    if (!is_of_model(parameter)) return std::nullopt;
    if (parameter.numel() * kFewer > call.results[0].toTensor().numel()) return std::nullopt;
    copies.push_back(copy_of(parameter));
    arguments[by.place_of(name)] = copies.back();
  }
  return copies;
}

}  // namespace

std::optional<at::Tensor> addend_of(const RecordedCall& call, const IsOfModel& is_of_model) {
  const Operator* by = find_operator(call.operation);
  if (by == nullptr || by->recomputation.addend.empty()) return std::nullopt;
  const NamedArguments arguments(*by, call.arguments);
  if (!arguments.fit() || !call.results[0].isTensor() || !call.arguments[0].isTensor()) {
    return std::nullopt;
  }
  const at::IntArrayRef sizes = call.results[0].toTensor().sizes();
  const at::Tensor first = call.arguments[0].toTensor(),
                   addend = arguments.tensor(by->recomputation.addend);
  const bool is_sum = first.defined() && addend.defined() && first.sizes() == sizes &&
                      addend.sizes() == sizes && !is_of_model(addend);
  return is_sum ? std::optional(addend) : std::nullopt;
}

std::string_view kind_of(const RecordedCall& call) {
  const Operator* by = find_operator(call.operation);
  return by == nullptr ? std::string_view() : by->recomputation.kind;
}

std::optional<Recipe> recipe_of(const RecordedCall& call, const Beside& beside,
                                const IsOfModel& is_of_model, const CopyOf& copy_of,
                                const WeightOf& weight_of) {
  const Operator* by = find_operator(call.operation);
  if (by == nullptr || !by->is_recomputed(call.operation)) return std::nullopt;
  if (!NamedArguments(*by, call.arguments).fit()) return std::nullopt;
  Values arguments = detached(call.arguments);
  std::vector<at::Tensor> copies;
  if (!beside.addend) {
    auto copied = copy_parameters(*by, call, is_of_model, copy_of, arguments);
    if (!copied) return std::nullopt;
    copies = std::move(*copied);
  }
  Weight weight;
  if (const std::string_view name = by->recomputation.weight; !name.empty()) {
    const at::Tensor given = NamedArguments(*by, call.arguments).tensor(name);
    weight = weight_of(given);
    if (!weight.is_cast() && !is_of_model(given)) return std::nullopt;
    arguments[by->place_of(name)] = at::Tensor();  // recipes take it when they need it
  }
  const NamedArguments named(*by, arguments);
  const Values results = detached(call.results.vec());
  std::optional<Recipe> recipe = by->recomputation.recipe({named, results, beside});
  if (!recipe) return std::nullopt;
  recipe->weight = std::move(weight);
  recipe->copies = std::move(copies);
  return recipe;
}

}  // namespace fewbit::session

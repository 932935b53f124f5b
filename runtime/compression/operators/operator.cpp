#include "compression/operators/operator.hpp"

#include <algorithm>
#include <unordered_map>

#include <c10/util/Exception.h>

namespace fewbit::session {

namespace {

/// By plain name.
std::unordered_map<std::string_view, Operator>& known() {
  static std::unordered_map<std::string_view, Operator> all;
  return all;
}

void add(Operator one) {
  const std::string_view name = one.name;
  const bool is_new = known().try_emplace(name, std::move(one)).second;
  TORCH_INTERNAL_ASSERT(is_new, "two operators are called ", name);
}

}  // namespace

OperatorFamily::OperatorFamily(std::initializer_list<Operator> operators) {
  for (const Operator& one : operators) add(one);
}

OperatorFamily::OperatorFamily(const std::vector<Operator>& operators) {
  for (const Operator& one : operators) add(one);
}

std::vector<Operator> alike(std::initializer_list<std::string_view> names,
                            const Operator& example) {
  std::vector<Operator> all;
  for (const std::string_view name : names) {
    all.push_back(example);
    all.back().name = name;
  }
  return all;
}

std::string_view base_name(std::string_view operation) {
  if (is_in_place(operation)) operation.remove_suffix(1);
  return operation;
}

std::string_view plain_name(std::string_view operation) {
  operation = base_name(operation);
  const size_t library = operation.rfind(':');
  return library == std::string_view::npos ? operation : operation.substr(library + 1);
}

const Operator* find_operator_like(std::string_view operation) {
  const auto found = known().find(plain_name(operation));
  return found == known().end() ? nullptr : &found->second;
}

const Operator* find_operator(std::string_view operation) {
  const Operator* like = find_operator_like(operation);
  if (like == nullptr) return nullptr;
  const std::string_view base = base_name(operation);
  const bool has_library = base.size() == like->library.size() + 2 + like->name.size() &&
                           base.starts_with(like->library);
  return has_library ? like : nullptr;
}

std::vector<const Operator*> all_operators() {
  std::vector<const Operator*> all;
  for (const auto& [name, one] : known()) all.push_back(&one);
  return all;
}

size_t Operator::place_of(std::string_view argument) const {
  const auto found = std::ranges::find(arguments, argument);
  TORCH_INTERNAL_ASSERT(found != arguments.end(), name, " has no argument '", argument, "'");
  return static_cast<size_t>(found - arguments.begin());
}

bool NamedArguments::fit() const {
  return values_.size() == of_.arguments.size();  // what is left out by default is among them
}

const c10::IValue& NamedArguments::operator[](std::string_view name) const {
  return values_.at(of_.place_of(name));
}

at::Tensor NamedArguments::tensor(std::string_view name) const {
  const c10::IValue& value = (*this)[name];
  return value.isTensor() ? value.toTensor() : at::Tensor();
}

}  // namespace fewbit::session

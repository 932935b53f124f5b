#include "expression/expression.hpp"

#include "base/text.hpp"
#include "expression/tape.hpp"

namespace fewbit::solver {

namespace {

/// Binding strength: comparison 1, sum 2, product 3, minus 4, power 5, primary 6.
struct Text {
  std::string text;
  int strength;
};

std::string bracketed(const Text& part, int least) {
  return part.strength < least ? "(" + part.text + ")" : part.text;
}

Text infix(const Text& a, const char* symbol, const Text& b, int strength, int left, int right) {
  return {bracketed(a, left) + symbol + bracketed(b, right), strength};
}

Text call(const Node& node, const std::vector<Text>& parts) {
  for (const OpInfo& info : function_operations()) {
    if (info.op != node.op) continue;
    std::string text = std::string(info.name) + "(" + parts[static_cast<size_t>(node.a)].text;
    if (node.b >= 0) text += ", " + parts[static_cast<size_t>(node.b)].text;
    if (node.c >= 0) text += ", " + parts[static_cast<size_t>(node.c)].text;
    return {text + ")", 6};
  }
  return {};
}

Text text_of(const Node& node, const std::vector<Text>& parts,
             const std::vector<Expression::Parameter>& parameters) {
  const auto a = [&]() -> const Text& { return parts[static_cast<size_t>(node.a)]; };
  const auto b = [&]() -> const Text& { return parts[static_cast<size_t>(node.b)]; };
  switch (node.op) {
    case Op::constant:
      return {shortest(node.value), node.value < 0.0 ? 4 : 6};
    case Op::variable:
      return {"x", 6};
    case Op::parameter:
      return {parameters[static_cast<size_t>(node.parameter)].first, 6};
    case Op::negate:
      return {"-" + bracketed(a(), 5), 4};
    case Op::add:
      return infix(a(), " + ", b(), 2, 2, 3);
    case Op::subtract:
      return infix(a(), " - ", b(), 2, 2, 3);
    case Op::multiply:
      return infix(a(), " * ", b(), 3, 3, 4);
    case Op::divide:
      return infix(a(), " / ", b(), 3, 3, 4);
    case Op::power:
      return infix(a(), "^", b(), 5, 6, 4);
    case Op::less:
      return infix(a(), " < ", b(), 1, 2, 2);
    case Op::less_equal:
      return infix(a(), " <= ", b(), 1, 2, 2);
    case Op::greater:
      return infix(a(), " > ", b(), 1, 2, 2);
    case Op::greater_equal:
      return infix(a(), " >= ", b(), 1, 2, 2);
    case Op::equal:
      return infix(a(), " == ", b(), 1, 2, 2);
    case Op::not_equal:
      return infix(a(), " != ", b(), 1, 2, 2);
    default:
      return call(node, parts);
  }
}

}  // namespace

Expression::Expression(std::vector<Node> nodes, std::vector<Parameter> parameters)
    : nodes_(std::move(nodes)), parameters_(std::move(parameters)) {}

std::string Expression::text() const {
  std::vector<Text> parts;
  for (const Node& node : nodes_) parts.push_back(text_of(node, parts, parameters_));
  return parts.back().text;
}

}  // namespace fewbit::solver

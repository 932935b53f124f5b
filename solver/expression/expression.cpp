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

std::string bracketed(Text part, int least) {
  return part.strength < least ? "(" + part.text + ")" : std::move(part.text);
}

struct Infix {
  const char* symbol;
  int strength;
  int left;   ///< least strength of the left operand without brackets
  int right;  ///< the same on the right
};

Infix infix_of(Op op) {
  switch (op) {
    case Op::add:
      return {" + ", 2, 2, 3};
    case Op::subtract:
      return {" - ", 2, 2, 3};
    case Op::multiply:
      return {" * ", 3, 3, 4};
    case Op::divide:
      return {" / ", 3, 3, 4};
    case Op::power:
      return {"^", 5, 6, 4};
    case Op::less:
      return {" < ", 1, 2, 2};
    case Op::less_equal:
      return {" <= ", 1, 2, 2};
    case Op::greater:
      return {" > ", 1, 2, 2};
    case Op::greater_equal:
      return {" >= ", 1, 2, 2};
    case Op::equal:
      return {" == ", 1, 2, 2};
    default:
      return {" != ", 1, 2, 2};
  }
}

const char* function_name(Op op) {
  for (const OpInfo& info : function_operations()) {
    if (info.op == op) return info.name;
  }
  return nullptr;
}

/// Writes node by node. The text of a node is handed on, not copied, to the last that needs it:
/// a long sum takes linear time.
class Writer {
 public:
  explicit Writer(const Expression& f) : f_(f), uses_(f.nodes().size()) {
    for (const Node& node : f.nodes()) {
      for (const int operand : {node.a, node.b, node.c}) {
        if (operand >= 0) ++uses_[static_cast<size_t>(operand)];
      }
    }
  }

  std::string write() {
    for (const Node& node : f_.nodes()) parts_.push_back(text_of(node));
    return parts_.back().text;
  }

 private:
  Text take(int operand) {
    const auto i = static_cast<size_t>(operand);
    return --uses_[i] == 0 ? std::move(parts_[i]) : parts_[i];
  }

  Text text_of(const Node& node) {
    if (node.op == Op::constant) return {shortest(node.value), node.value < 0.0 ? 4 : 6};
    if (node.op == Op::variable) return {"x", 6};
    if (node.op == Op::parameter) {
      return {f_.parameters()[static_cast<size_t>(node.parameter)].first, 6};
    }
    if (node.op == Op::negate) return {"-" + bracketed(take(node.a), 5), 4};
    if (const char* name = function_name(node.op)) return call(name, node);
    const Infix infix = infix_of(node.op);
    std::string text = bracketed(take(node.a), infix.left);
    text += infix.symbol;
    text += bracketed(take(node.b), infix.right);
    return {std::move(text), infix.strength};
  }

  Text call(const char* name, const Node& node) {
    std::string text = std::string(name) + "(" + take(node.a).text;
    if (node.b >= 0) text += ", " + take(node.b).text;
    if (node.c >= 0) text += ", " + take(node.c).text;
    return {text + ")", 6};
  }

  const Expression& f_;
  std::vector<int> uses_;
  std::vector<Text> parts_;
};

}  // namespace

Expression::Expression(std::vector<Node> nodes, std::vector<Parameter> parameters)
    : nodes_(std::move(nodes)), parameters_(std::move(parameters)) {}

std::string Expression::text() const {
  return Writer(*this).write();
}

}  // namespace fewbit::solver

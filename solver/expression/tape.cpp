#include "expression/tape.hpp"

namespace fewbit::solver {

int TapeBuilder::add(const Node& node) {
  const Key key{node.op, node.a, node.b, node.c, node.value, node.parameter};
  const auto [place, fresh] = known_.try_emplace(key, static_cast<int>(nodes_.size()));
  if (!fresh) return place->second;
  bool varies = node.op == Op::variable;
  for (const int operand : {node.a, node.b, node.c}) {
    varies = varies || (operand >= 0 && depends_on_x(operand));
  }
  nodes_.push_back(node);
  varies_.push_back(varies);
  return place->second;
}

std::vector<Node> TapeBuilder::take(int root) const {
  std::vector<bool> needed(nodes_.size());
  needed[static_cast<size_t>(root)] = true;
  for (size_t i = static_cast<size_t>(root) + 1; i-- > 0;) {
    if (!needed[i]) continue;
    for (const int operand : {nodes_[i].a, nodes_[i].b, nodes_[i].c}) {
      if (operand >= 0) needed[static_cast<size_t>(operand)] = true;
    }
  }
  std::vector<int> place(nodes_.size(), -1);
  std::vector<Node> kept;
  for (size_t i = 0; i <= static_cast<size_t>(root); ++i) {
    if (!needed[i]) continue;
    Node node = nodes_[i];
    for (int* operand : {&node.a, &node.b, &node.c}) {
      if (*operand >= 0) *operand = place[static_cast<size_t>(*operand)];
    }
    place[i] = static_cast<int>(kept.size());
    kept.push_back(node);
  }
  return kept;
}

const std::vector<OpInfo>& function_operations() {
  static const std::vector<OpInfo> operations = {
      {Op::abs, "abs", 1},         {Op::sign, "sign", 1},         {Op::min, "min", 2},
      {Op::max, "max", 2},         {Op::clamp, "clamp", 3},       {Op::where, "where", 3},
      {Op::sqrt, "sqrt", 1},       {Op::exp, "exp", 1},           {Op::expm1, "expm1", 1},
      {Op::log, "log", 1},         {Op::log1p, "log1p", 1},       {Op::tanh, "tanh", 1},
      {Op::sigmoid, "sigmoid", 1}, {Op::softplus, "softplus", 1}, {Op::erf, "erf", 1},
      {Op::normcdf, "normcdf", 1}, {Op::sin, "sin", 1},           {Op::cos, "cos", 1},
      {Op::atan, "atan", 1},
  };
  return operations;
}

bool is_switching(Op op) {
  return op >= Op::less && op <= Op::where;
}

}  // namespace fewbit::solver

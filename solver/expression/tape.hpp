#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "expression/expression.hpp"

namespace fewbit::solver {

/// Grows a tape; equal nodes are shared.
class TapeBuilder {
 public:
  int constant(double value) { return add({Op::constant, -1, -1, -1, value, -1}); }
  int variable() { return add({Op::variable}); }
  int parameter(int index) { return add({Op::parameter, -1, -1, -1, 0.0, index}); }
  int apply(Op op, int a, int b = -1, int c = -1) { return add({op, a, b, c}); }

  /// Appends `node` unless an equal one exists; returns its index.
  int add(const Node& node);

  const Node& operator[](int index) const { return nodes_[static_cast<size_t>(index)]; }
  size_t size() const { return nodes_.size(); }
  bool depends_on_x(int index) const { return varies_[static_cast<size_t>(index)]; }

  /// The nodes that `root` needs, in order, `root` last.
  std::vector<Node> take(int root) const;

 private:
  using Key = std::tuple<Op, int, int, int, double, int>;
  std::vector<Node> nodes_;
  std::vector<bool> varies_;
  std::map<Key, int> known_;
};

/// How the language writes a function, and the number of its operands.
struct OpInfo {
  Op op;
  const char* name;
  int operands;
};

/// The functions of the language.
const std::vector<OpInfo>& function_operations();

/// abs, sign, min, max, clamp, where and the comparisons.
bool is_switching(Op op);

}  // namespace fewbit::solver

#include "expression/block.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "expression/evaluate.hpp"

namespace fewbit::solver {

namespace {

constexpr size_t kStackNodes = 128;

struct Lane {
  std::array<double, kBlockPoints> value;
  std::array<double, kBlockPoints> first;
  std::array<double, kBlockPoints> second;
};

void fill(Lane& out, size_t count, double value, double first) {
  std::fill_n(out.value.begin(), count, value);
  std::fill_n(out.first.begin(), count, first);
  std::fill_n(out.second.begin(), count, 0.0);
}

template <bool kSecond>
void apply(const Node& node, const Lane* lanes, size_t count, Lane& out) {
  using A = detail::Arithmetic<Jet<double>>;
  const auto each = [&](const auto& f) {
    for (size_t i = 0; i < count; ++i) {
      const Jet<double> jet = f(i);
      out.value[i] = jet.value;
      out.first[i] = jet.first;
      if constexpr (kSecond) out.second[i] = jet.second;
    }
  };
  const auto at = [&](int operand, size_t i) -> Jet<double> {
    const Lane& lane = lanes[operand];
    return {lane.value[i], lane.first[i], kSecond ? lane.second[i] : 0.0};
  };
  switch (node.op) {
    case Op::negate:
      each([&](size_t i) { return A::negate(at(node.a, i)); });
      break;
    case Op::add:
      each([&](size_t i) { return A::add(at(node.a, i), at(node.b, i)); });
      break;
    case Op::subtract:
      each([&](size_t i) { return A::subtract(at(node.a, i), at(node.b, i)); });
      break;
    case Op::multiply:
      each([&](size_t i) { return A::multiply(at(node.a, i), at(node.b, i)); });
      break;
    case Op::divide:
      each([&](size_t i) { return A::divide(at(node.a, i), at(node.b, i)); });
      break;
    case Op::power:
      each([&](size_t i) { return A::power(at(node.a, i), lanes[node.b].value[0]); });
      break;
    default:
      each([&](size_t i) { return A::apply(node.op, at(node.a, i)); });
  }
}

template <bool kSecond>
void run(const Expression& f, const double* x, size_t count, Lane* lanes) {
  const std::vector<Node>& nodes = f.nodes();
  for (size_t k = 0; k < nodes.size(); ++k) {
    Lane& out = lanes[k];
    if (nodes[k].op == Op::constant) {
      fill(out, count, nodes[k].value, 0.0);
    } else if (nodes[k].op == Op::variable) {
      fill(out, count, 0.0, 1.0);
      std::copy_n(x, count, out.value.begin());
    } else {
      apply<kSecond>(nodes[k], lanes, count, out);
    }
  }
}

}  // namespace

void evaluate_block(const Expression& f, const double* x, size_t count, double* value,
                    double* first, double* second) {
  const size_t size = f.nodes().size();
  // Uninitialised on purpose: every lane is written before it is read.
  std::array<Lane, kStackNodes> stack;
  std::vector<Lane> heap(size > kStackNodes ? size : 0);
  Lane* lanes = size > kStackNodes ? heap.data() : stack.data();
  if (second != nullptr) {
    run<true>(f, x, count, lanes);
  } else {
    run<false>(f, x, count, lanes);
  }
  const Lane& result = lanes[size - 1];
  if (value != nullptr) std::copy_n(result.value.begin(), count, value);
  std::copy_n(result.first.begin(), count, first);
  if (second != nullptr) std::copy_n(result.second.begin(), count, second);
}

}  // namespace fewbit::solver

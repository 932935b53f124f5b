#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include <hwy/targets.h>

#include "kernels/activation/activation.hpp"
#include "kernels/activation/cpu/half_values.hpp"
#include "kernels/instruction_sets.hpp"
#include "tests/kernels/reference.hpp"

namespace fewbit::kernels {

struct Forward {
  std::vector<uint8_t> y;
  std::vector<uint8_t> codes;
};

/// A whole forward pass in one range. The stream starts out as ones: what should be zero was
/// written.
inline Forward run_forward(const Activation& activation, const StepView& steps, ElementType type,
                           const std::vector<uint8_t>& x, const double* parameters = nullptr) {
  const int64_t count = static_cast<int64_t>(x.size()) / element_bytes(type);
  Forward result{std::vector<uint8_t>(x.size()),
                 std::vector<uint8_t>(static_cast<size_t>(code_bytes(count, steps.bits)), 0xFF)};
  activation_forward(activation, parameters, steps, type, x.data(), result.y.data(),
                     result.codes.data(), {0, count, count});
  return result;
}

inline std::vector<uint8_t> run_backward(const StepView& steps, ElementType type,
                                         const std::vector<uint8_t>& dy,
                                         const std::vector<uint8_t>& codes) {
  const int64_t count = static_cast<int64_t>(dy.size()) / element_bytes(type);
  std::vector<uint8_t> dx(dy.size());
  activation_backward(steps, type, dy.data(), codes.data(), dx.data(), {0, count, count});
  return dx;
}

/// Runs `body` for each of instruction_sets(), for the one that has several with every way to the
/// values of tables.
template <class Body>
void for_each_target(const Body& body) {
  for (int64_t rest = instruction_sets(); rest != 0; rest &= rest - 1) {
    const int64_t target = rest & -rest;
    hwy::SetSupportedTargetsForTest(target);
    for (const HalfWay way : {HalfWay::single_loads, HalfWay::gathers, HalfWay::fit}) {
      if (way != HalfWay::single_loads && target != HWY_AVX3) continue;
      half_way_for_test = way;
      body(target);
    }
  }
  half_way_for_test.reset();
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace fewbit::kernels

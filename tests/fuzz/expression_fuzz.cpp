// Any text: the parser accepts it or throws Error; what it accepts prints and parses back to the
// same, and goes all the way to a derivative.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "expression/derivative.hpp"
#include "expression/evaluate.hpp"

namespace {

void check(bool condition) {
  if (!condition) std::abort();
}

void exercise(std::string_view text) {
  using namespace fewbit::solver;
  const Expression f = Expression::parse(text, {{"alpha", 0.5}});
  check(Expression::parse(f.text(), f.parameters()).text() == f.text());
  f.evaluate(0.3);
  f.evaluate(Jet<double>{-1.7, 1.0, 0.0});
  if (f.nodes().size() > 25) return;
  const Derivative derivative(f, -4.0, 4.0);
  check(derivative.branches().front().lo == -4.0 && derivative.branches().back().hi == 4.0);
  for (const Branch& branch : derivative.branches()) {
    if (branch.direction == 0) continue;
    const double middle = 0.5 * (branch.value_lo + branch.value_hi);
    const double x = derivative.solve(branch, middle);
    check(x >= branch.lo && x <= branch.hi);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    exercise({reinterpret_cast<const char*>(data), size});
  } catch (const fewbit::Error&) {
    // Refused, as it should be.
  }
  return 0;
}

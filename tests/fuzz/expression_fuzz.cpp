#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "expression/derivative.hpp"
#include "expression/library.hpp"
#include "functions/registry.hpp"

namespace {

using fewbit::solver::Derivative;
using fewbit::solver::Expression;
using fewbit::solver::Library;

/// Larger expressions are parsed and written, but differentiating them may take seconds.
constexpr size_t kNodesToDifferentiate = 60;

std::optional<Expression> parse(std::string_view text, const Library& library) {
  try {
    return Expression::parse(text, {{"alpha", 0.5}, {"min", -1.0}}, library);
  } catch (const fewbit::Error&) {
    return std::nullopt;
  }
}

void differentiate(const Expression& f) {
  try {
    const Derivative derivative(f, -4.0, 4.0);
    const auto& branches = derivative.branches();
    if (branches.front().lo != -4.0 || branches.back().hi != 4.0) std::abort();
  } catch (const fewbit::Error&) {
  }
}

}  // namespace

/// What parses is written as a text that parses to the same text without the registry, and has a
/// derivative on [-4, 4] or an Error that says why not; nothing else leaves the parser.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto f =
      parse({reinterpret_cast<const char*>(data), size}, fewbit::solver::function_library());
  if (!f) return 0;
  const auto again = parse(f->text(), {});
  if (!again || again->text() != f->text()) std::abort();
  if (again->nodes().size() != f->nodes().size()) std::abort();
  if (f->nodes().size() <= kNodesToDifferentiate) differentiate(*f);
  return 0;
}

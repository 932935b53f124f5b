#include "tests/proven/random_samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <rapidcheck.h>

#include "base/text.hpp"
#include "functions/registry.hpp"
#include "tests/proven/random_problem.hpp"

namespace fewbit::test {

namespace {

using namespace fewbit::solver;

double any_sign() {
  return *rc::gen::arbitrary<bool>() ? 1.0 : -1.0;
}

/// A number of four digits.
double any_magnitude(int lo, int hi) {
  const double value = std::pow(10.0, *rc::gen::inRange(100 * lo, 100 * hi + 1) / 100.0);
  return std::strtod(fmt::format("{:.3e}", value).c_str(), nullptr);
}

double any_value(int kind, const FunctionSpec& function) {
  switch (kind) {
    case 0:
      return *rc::gen::inRange(-12, 13);
    case 1:
      return 0.25 * *rc::gen::inRange(-20, 21);
    case 2:
      return 0.001 * *rc::gen::inRange(-4000, 4001);
    case 3:
      return any_sign() * any_magnitude(-12, 12);
    case 4:
      return any_sign() * any_magnitude(-2, 1);
    default:
      break;
  }
  // Where derivatives jump.
  std::vector<double> places{0.0, 0.5, 1.0, 3.0, 6.0};
  for (const auto& [name, value] : function.parameters) places.push_back(value);
  const double place = any_sign() * *rc::gen::elementOf(places);
  return std::nextafter(place, *rc::gen::element(-HUGE_VAL, place, HUGE_VAL));
}

std::vector<double> any_values(const FunctionSpec& function) {
  const int kind = *rc::gen::inRange(0, 7);
  const bool pairs = *rc::gen::inRange(0, 3) == 0;
  const bool neighbours = *rc::gen::inRange(0, 6) == 0;
  const auto count = static_cast<size_t>(*rc::gen::inRange(2, 41));
  std::set<double> values;
  for (size_t i = 0; i < count; ++i) {
    const int drawn = kind < 6 ? kind : *rc::gen::inRange(0, 6);
    const double value = any_value(drawn, function) + 0.0;
    values.insert(value);
    if (pairs) values.insert(-value + 0.0);
    if (neighbours) values.insert(std::nextafter(value, HUGE_VAL));
  }
  // Samples that lie closer together than this are refused as having no spread.
  const double largest = std::max(-*values.begin(), *values.rbegin());
  if (*values.rbegin() - *values.begin() <= 1e-9 * largest + 1e-70) values.insert(largest + 1.0);
  return {values.begin(), values.end()};
}

std::string any_expression() {
  return *rc::gen::element<std::string>(
      "x*sigmoid(1.702*x)", "where(x > 0.25, x, 0.1*x)", "where(x > 1, x^2, x)", "abs(x)",
      "max(min(x, 1), -1)*x", "tanh(3*x)/3 + 0.01*x", "log1p(x^2)", "sin(2*tanh(x))",
      "x^3/(1 + x^2)", "sqrt(1 + x^2)", "hardtanh(x + 1, -1, 2)*tanh(x + 1)", "atan(50*x)/50");
}

}  // namespace

RandomSamples any_samples() {
  RandomSamples drawn;
  Problem& problem = drawn.problem;
  if (*rc::gen::inRange(0, 3) > 0) {
    problem.function = any_registered();
  } else {
    problem.function = custom_function("drawn", any_expression());
  }
  const std::vector<double> values = any_values(problem.function);
  const bool once = *rc::gen::inRange(0, 3) == 0;
  for (const double value : values) {
    const int times = once ? 1 : *rc::gen::inRange(1, 30);
    drawn.numbers.insert(drawn.numbers.end(), static_cast<size_t>(times), value);
  }
  if (*rc::gen::inRange(0, 3) > 0) {
    for (size_t i = drawn.numbers.size(); i > 1; --i) {
      std::swap(drawn.numbers[i - 1], drawn.numbers[*rc::gen::inRange<size_t>(0, i)]);
    }
  }
  problem.form = *rc::gen::element(Form::levels, Form::intervals, Form::unbiased);
  const int about = static_cast<int>(values.size()) + *rc::gen::inRange(-2, 3);
  problem.levels = *rc::gen::inRange(0, 4) > 0 ? *rc::gen::inRange(2, 13) : std::max(2, about);
  drawn.text =
      fmt::format("{} --levels {} --form {}, {} samples:", expression_of(problem.function).text(),
                  problem.levels, to_string(problem.form), drawn.numbers.size());
  for (const double value : values) drawn.text += " " + shortest(value);
  return drawn;
}

}  // namespace fewbit::test

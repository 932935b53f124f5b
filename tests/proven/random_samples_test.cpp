// Draws samples that take few values and holds what solve() prints against the exact program over
// these values. scripts/attack draws ten thousand.

#include "tests/proven/random_samples.hpp"

#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/error.hpp"
#include "expression/derivative.hpp"
#include "expression/evaluate.hpp"
#include "expression/evenness.hpp"
#include "expression/left_side.hpp"
#include "functions/registry.hpp"
#include "proven/solve.hpp"
#include "tests/proven/exact_on_values.hpp"
#include "tests/proven/tally.hpp"
#include "weights/samples.hpp"

namespace fewbit::test::random_samples_test {

using namespace fewbit::solver;

constexpr SampleFormat kRawDoubles{SampleFormat::Kind::raw, ItemType::Kind::f64};

FittedSamples fitted(const std::vector<double>& numbers) {
  std::string bytes(numbers.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  std::istringstream in(bytes);
  Samples samples(in, kRawDoubles, "data");
  return fit_samples(samples);
}

struct Reference {
  std::vector<ValueShare> values;
  double size = 0.0;   ///< the largest |f'|
  double noise = 0.0;  ///< what double precision does to f'
  double width = 0.0;  ///< what the solver allows it to do
};

/// f' in long double. Where it jumps there are two, and rounding of a condition may move the jump
/// by a double or two: which side counts is for `derivative` to say.
long double slope_at(const Expression& f, const Derivative& derivative, double x) {
  const long double wanted = derivative.value(x);
  long double slope = f.evaluate(Jet<long double>{x, 1.0L, 0.0L}).first;
  for (const double towards : {-HUGE_VAL, HUGE_VAL}) {
    double near = x;
    for (int i = 0; i < 3; ++i) {
      near = std::nextafter(near, towards);
      const long double other = f.evaluate(Jet<long double>{near, 1.0L, 0.0L}).first;
      if (std::fabs(other - wanted) < 1e-3L * std::fabs(slope - wanted)) slope = other;
    }
  }
  return slope;
}

Reference reference_of(const Problem& problem, const std::vector<double>& numbers) {
  const Expression f = expression_of(problem.function);
  const auto whole = derivative_with_left_side(f, problem.domain.lo, problem.domain.hi);
  const Derivative& derivative = *whole;
  std::map<double, long double> counts;
  for (const double number : numbers) counts[std::fabs(number) < 1e-80 ? 0.0 : number] += 1.0L;
  Reference reference;
  for (const auto& [x, count] : counts) {
    const long double slope = slope_at(f, derivative, x);
    const Interval bounds = derivative.bounds(x, x, derivative.piece_of(x));
    const double width = bounds.upper() - bounds.lower();
    const auto off = std::fabs(static_cast<double>(slope - derivative.value(x)));
    reference.values.push_back({x, slope, count / static_cast<long double>(numbers.size())});
    reference.size = std::max(reference.size, std::fabs(static_cast<double>(slope)));
    reference.noise = std::max(reference.noise, std::min(off, 4.0 * width));
    reference.width = std::max(reference.width, width);
  }
  reference.noise += 1e-14 * reference.size;
  reference.width += reference.noise;
  return reference;
}

void check_table(const Table& table, const Reference& reference, bool folds) {
  const Problem& problem = table.problem;
  const auto error = static_cast<double>(error_on_values(reference.values, table));
  const auto best =
      static_cast<double>(exact_on_values(reference.values, problem.form, problem.levels, folds));
  const double range = table.levels.back() - table.levels.front();
  const auto hidden = [&](double of, double noise) {
    return problem.form == Form::unbiased ? 16.0 * noise * (range + noise)
                                          : 16.0 * noise * (2.0 * std::sqrt(of) + 16.0 * noise);
  };
  RC_LOG() << fmt::format("error {} reference {}, lower bound {} optimum {}, noise {}\n",
                          table.error, error, table.lower_bound, best, reference.noise);
  const double less = 1.0 - 1e-12;
  const double more = 1.0 + 1e-12;
  RC_ASSERT(table.error >= error * less - hidden(error, reference.noise));
  RC_ASSERT(table.lower_bound <= best * more + hidden(best, reference.noise));
  // The table and the bound meet but for rounding.
  RC_ASSERT(error <= best * more + hidden(best, reference.width));
  RC_ASSERT(table.error <= error * more + hidden(error, reference.width));
  RC_ASSERT(table.lower_bound >= best * less - hidden(best, reference.width));
}

TEST(RandomProof, SamplesOfFewValuesAreSolvedExactly) {
  setenv("RC_PARAMS", FEWBIT_DRAWN_PROBLEMS, 0);
  Tally tally;
  EXPECT_TRUE(rc::check([&] {
    RandomSamples drawn = any_samples();
    RC_LOG() << drawn.text << "\n";
    const std::optional<WeightSpec> weight = fitted(drawn.numbers).values;
    RC_ASSERT(weight.has_value());
    Problem& problem = drawn.problem;
    problem.weight = *weight;
    problem.domain = {weight->values.front(), weight->values.back()};
    const auto& [lo, hi] = problem.domain;
    const bool folds =
        lo < 0.0 && hi > 0.0 && is_even(expression_of(problem.function), std::max(-lo, hi));
    Table table;
    try {
      table = solve(problem);
    } catch (const Error& error) {
      tally.count(kind_of(error.what()));
      // Bounds of f' that cancel at large x: no problem of samples is refused for anything else.
      RC_ASSERT(std::string(error.what()).starts_with("expression: "));
      return;
    }
    const Reference reference = reference_of(problem, drawn.numbers);
    check_table(table, reference, folds);
    if (reference.values.size() <= static_cast<size_t>(problem.levels)) {
      RC_ASSERT(table.error == 0.0);
      RC_ASSERT(table.relative_gap == 0.0);
    }
    const char* size = table.relative_gap <= 1e-9 ? "proven to 1e-9" : "proven, wider gap";
    tally.count(table.error == 0.0 ? "exact" : size);
  }));
  tally.print();
  EXPECT_LE(tally.refused(), tally.all() / 20);
}

}  // namespace fewbit::test::random_samples_test

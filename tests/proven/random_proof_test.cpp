// Draws problems of every scale and holds what solve() prints against the slow reference.
// scripts/attack draws ten thousand.

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/error.hpp"
#include "expression/derivative.hpp"
#include "functions/registry.hpp"
#include "proven/solve.hpp"
#include "search/setting.hpp"
#include "tests/proven/random_problem.hpp"
#include "tests/proven/tally.hpp"

namespace fewbit::test::random_proof_test {

using namespace fewbit::solver;

std::vector<double> cuts_of(const Table& table, const Domain& domain) {
  const Derivative derivative(expression_of(table.problem.function), domain.lo, domain.hi);
  std::vector<double> cuts = derivative.borders();
  for (const double threshold : table.thresholds) {
    cuts.push_back(threshold);
    if (table.symmetry == Symmetry::even) cuts.push_back(-threshold);
  }
  if (table.problem.form == Form::unbiased) {
    for (const Branch& branch : derivative.branches()) {
      const auto [small, large] = std::minmax(branch.value_lo, branch.value_hi);
      for (const double level : table.levels) {
        if (small < level && level < large) cuts.push_back(derivative.solve(branch, level));
      }
    }
  }
  const auto& edges = table.problem.weight.edges;
  cuts.insert(cuts.end(), edges.begin(), edges.end());
  return cuts;
}

void check_table(const RandomProblem& drawn, const Table& table) {
  const auto weight = make_weight(table.problem.weight);
  const Domain domain = effective_domain(table.problem.domain, *weight);
  const SlowReference slow(table.problem, domain, drawn.features, cuts_of(table, domain));
  // What the reference itself is good to, in units of the error of a single level.
  const double unit = slow.mass() * slow.range() * slow.range();
  const double error = slow.error(table);
  const double best = slow.lloyd(table.problem.levels);
  RC_LOG() << fmt::format("error {} reference {}, lower bound {} Lloyd {}, unit {}\n", table.error,
                          error, table.lower_bound, best, unit);
  // The printed error has what rounding of f' may have hidden on top.
  const double noise = 30.0 * slow.noise();
  const double hidden =
      table.problem.form == Form::unbiased
          ? noise * std::sqrt(slow.mass()) * (table.levels.back() - table.levels.front())
          : noise * (2.0 * std::sqrt(error) + noise);
  // So has rounding of x under a narrow weight.
  const double far = std::max(std::abs(domain.lo), std::abs(domain.hi));
  const double moved = 32.0 * 2e-16 * far / weight->scale() * unit;
  const double off = 1e-5 * error + 1e-10 * unit + noise * noise;
  RC_ASSERT(table.error >= error - off);
  RC_ASSERT(table.error <= 1.01 * error + off + 64.0 * hidden + moved);
  RC_ASSERT(table.lower_bound <= table.error);
  RC_ASSERT(table.lower_bound <= error + off);  // whatever the printed error has on top
  if (table.problem.form == Form::levels) {
    const double known = std::pow(std::sqrt(best) + slow.own_noise(), 2);
    RC_ASSERT(table.lower_bound <= known * (1.0 + 1e-4) + 1e-12 * unit);
    // Lloyd's starts are few: a better table than his must exist.
    RC_ASSERT(table.error <=
              best * (1.0 + 1e-4) + 1e-10 * unit + 0.01 * best + 64.0 * hidden + moved);
  }
}

// Where both are limited by rounding they may disagree: then there is no table, which is no harm.
TEST(RandomProof, ErrorAndBoundHoldAgainstTheSlowReference) {
  setenv("RC_PARAMS", FEWBIT_DRAWN_PROBLEMS, 0);
  Tally tally;
  EXPECT_TRUE(rc::check([&] {
    const RandomProblem drawn = any_problem();
    RC_LOG() << drawn.text << "\n";
    const auto start = std::chrono::steady_clock::now();
    try {
      const Table table = solve(drawn.problem);
      tally.count(table.relative_gap <= 1e-6 ? "proven to 1e-6" : "proven, wider gap");
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      if (took.count() > 3.0) tally.count("  slower than 3 s");
      check_table(drawn, table);
    } catch (const Error& error) {
      const std::string kind = kind_of(error.what());
      tally.count(kind);
      if (kind == "refused: search and verifier") fmt::print("{}\n{}\n", drawn.text, error.what());
    }
  }));
  tally.print();
  EXPECT_LE(tally.of("refused: search and verifier"), tally.all() / 50);
  EXPECT_GE(tally.of("proven to 1e-6"), tally.all() / 3);
}

}  // namespace fewbit::test::random_proof_test

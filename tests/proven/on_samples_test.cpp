// What is printed of a table on the very samples that it was fitted to, against sums over these.

#include "proven/on_samples.hpp"

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <map>
#include <random>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expression/evaluate.hpp"
#include "expression/expression.hpp"
#include "functions/registry.hpp"
#include "proven/solve.hpp"
#include "tests/proven/best_on_samples.hpp"

namespace fewbit::test::on_samples_test {

using namespace fewbit::solver;
using Numbers = std::vector<double>;

constexpr size_t kCount = 20000;
constexpr SampleFormat kRawDoubles{SampleFormat::Kind::raw, ItemType::Kind::f64};

/// The same on every machine, unlike the distributions of the standard library.
class Draws {
 public:
  double uniform() { return (static_cast<double>(generator_() >> 12) + 0.5) * 0x1p-52; }
  double normal() {
    return std::sqrt(-2.0 * std::log(uniform())) * std::cos(2.0 * M_PI * uniform());
  }
  double cauchy() { return std::tan(M_PI * (uniform() - 0.5)); }

 private:
  std::mt19937_64 generator_{11};
};

template <class Draw>
Numbers drawn(const Draw& draw) {
  Draws draws;
  Numbers numbers(kCount);
  for (double& number : numbers) number = draw(draws);
  return numbers;
}

Numbers normals() {
  return drawn([](Draws& draws) { return draws.normal(); });
}

Numbers normals_with(double outlier) {
  Numbers numbers = normals();
  numbers[kCount / 3] = outlier;
  return numbers;
}

std::string little_endian(const Numbers& numbers) {
  std::string bytes(numbers.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

Problem problem_of(const std::string& function, Samples& samples) {
  Problem problem;
  problem.function = parse_function(function);
  problem.weight = fit_samples(samples).weight;
  problem.domain = {problem.weight.edges.front(), problem.weight.edges.back()};
  return problem;
}

std::vector<Atom> atoms_of(const FunctionSpec& function, const Numbers& numbers) {
  const auto f = Expression::parse(function.expression, function.parameters);
  std::map<double, double> counts;
  for (const double x : numbers) counts[x] += 1.0;
  std::vector<Atom> atoms;
  for (const auto& [x, count] : counts) {
    // At a jump f' is what it is on the left.
    const double left = std::nextafter(x, -INFINITY);
    const auto value = f.evaluate(Jet<long double>{left, 1.0L, 0.0L}).first;
    atoms.push_back({x, static_cast<double>(value), count});
  }
  return atoms;
}

std::vector<Atom> folded(std::vector<Atom> atoms) {
  for (Atom& atom : atoms) atom.x = std::abs(atom.x);
  return atoms;
}

double square(const Table& table, const Atom& atom) {
  const std::vector<double>& levels = table.levels;
  if (table.problem.form != Form::unbiased) {
    const double off =
        atom.value - levels[static_cast<size_t>(table.codes[table.interval_of(atom.x)])];
    return off * off;
  }
  for (size_t i = 1; i < levels.size(); ++i) {
    if (atom.value <= levels[i] || i + 1 == levels.size()) {
      return std::max(0.0, (atom.value - levels[i - 1]) * (levels[i] - atom.value));
    }
  }
  return 0.0;
}

double plain_error(const Table& table, const std::vector<Atom>& atoms) {
  long double sum = 0.0L;
  long double count = 0.0L;
  for (const Atom& atom : atoms) {
    sum += static_cast<long double>(atom.count) * square(table, atom);
    count += atom.count;
  }
  return static_cast<double>(sum / count);
}

/// One table; its error and bound on the samples must be what sums over these say.
void check(const std::string& what, const Problem& problem, const Samples& samples,
           const std::vector<Atom>& atoms) {
  const Table table = solve(problem);
  const SampleError found = error_on_samples(table, samples);
  const double error = plain_error(table, atoms);
  const double range = table.levels.back() - table.levels.front();
  EXPECT_NEAR(found.error, error, 1e-9 * error + 1e-15 * range * range) << what;
  double best = best_on_samples(atoms, problem.form, problem.levels,
                                {table.levels.front(), table.levels.back()});
  if (problem.form == Form::intervals && table.symmetry == Symmetry::even) {
    best = std::min(best, best_on_samples(folded(atoms), problem.form, problem.levels, {}));
  }
  EXPECT_LE(found.lower_bound, best) << what;
  EXPECT_LE(found.lower_bound, found.error) << what;
}

/// All forms of 1 to 3 bits.
void check_all(const std::string& name, const Numbers& numbers,
               std::initializer_list<const char*> functions) {
  for (const char* function : functions) {
    std::istringstream in(little_endian(numbers));
    Samples samples(in, kRawDoubles, "data");
    Problem problem = problem_of(function, samples);
    const std::vector<Atom> atoms = atoms_of(problem.function, numbers);
    for (const Form form : {Form::levels, Form::unbiased, Form::intervals}) {
      for (int bits = 1; bits <= 3; ++bits) {
        problem.form = form;
        problem.levels = 1 << bits;
        const std::string what =
            fmt::format("{}, {}, {}, {} bits", name, function, to_string(form), bits);
        check(what, problem, samples, atoms);
      }
    }
  }
}

TEST(OnSamples, NormalValues) {
  check_all("normal", normals(), {"gelu", "tanh", "hardswish"});
}

TEST(OnSamples, TheBoundIsWithinTwoHundredthsOfTheError) {
  const Numbers numbers = normals();
  for (const Form form : {Form::levels, Form::unbiased, Form::intervals}) {
    std::istringstream in(little_endian(numbers));
    Samples samples(in, kRawDoubles, "data");
    Problem problem = problem_of("gelu", samples);
    problem.form = form;
    const SampleError found = error_on_samples(solve(problem), samples);
    EXPECT_GE(found.lower_bound, 0.98 * found.error) << to_string(form);
  }
}

TEST(OnSamples, OneValueFarAway) {
  check_all("1e5", normals_with(1e5), {"gelu", "hardswish"});
  check_all("1e6", normals_with(1e6), {"tanh"});
}

TEST(OnSamples, AMaskValue) {
  check_all("mask", normals_with(-1e9), {"gelu", "tanh"});
}

TEST(OnSamples, CauchyValues) {
  check_all("cauchy", drawn([](Draws& draws) { return draws.cauchy(); }), {"gelu"});
}

TEST(OnSamples, WholeNumbers) {
  check_all("whole", drawn([](Draws& draws) { return std::round(3.0 * draws.normal()); }),
            {"gelu", "tanh", "hardswish"});
}

TEST(OnSamples, HalfPrecision) {
  check_all("half", drawn([](Draws& draws) {
              const double x = draws.normal();
              const double step =
                  std::exp2(std::max(std::floor(std::log2(std::abs(x))), -14.0) - 10.0);
              return std::nearbyint(x / step) * step;
            }),
            {"gelu", "tanh", "hardswish"});
}

TEST(OnSamples, ManyZeros) {
  check_all("zeros", drawn([](Draws& draws) {
              const double x = draws.normal();
              return draws.uniform() < 0.25 ? 0.0 : x;
            }),
            {"tanh", "hardswish"});
}

}  // namespace fewbit::test::on_samples_test

#include "table/check.hpp"

#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"

namespace fewbit::solver {

namespace {

std::string indexed(const std::string& name, size_t i) {
  return name + "[" + std::to_string(i) + "]";
}

/// One table under examination; every method throws Error on the first fault it sees.
class Checker {
 public:
  Checker(const Table& table, const std::string& file) : table_(table), file_(file) {}

  void run() const {
    names();
    domain();
    weight();
    levels();
    if (table_.problem.form == Form::unbiased) {
      no_intervals();
    } else {
      thresholds();
      codes();
    }
    proof();
  }

 private:
  [[noreturn]] void fail(const std::string& field, const std::string& message) const {
    throw Error(message, file_, field);
  }

  void ascending(const std::vector<double>& values, const std::string& field) const {
    for (size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) fail(indexed(field, i), "is not finite");
      if (i > 0 && !(values[i - 1] < values[i])) {
        fail(indexed(field, i), shortest(values[i]) + " after " + shortest(values[i - 1]) +
                                    ": values must ascend and differ");
      }
    }
  }

  void names() const {
    const auto& function = table_.problem.function;
    if (function.name.empty()) fail("function.name", "is empty");
    if (function.expression.empty()) fail("function.expression", "is empty");
    for (const auto& [name, value] : function.parameters) {
      if (!std::isfinite(value)) fail("function.parameters." + name, "is not finite");
    }
    const auto& objective = table_.problem.objective;
    if (!objective.smoothed) return;
    if (!(objective.tau > 0.0 && objective.tau < 1.0)) {
      fail("objective.smoothed.tau", shortest(objective.tau) + " is not between 0 and 1");
    }
    if (!(objective.lambda >= 0.0 && std::isfinite(objective.lambda))) {
      fail("objective.smoothed.lambda", shortest(objective.lambda) + " is not a number from 0 up");
    }
  }

  void domain() const {
    const auto [lo, hi] = table_.problem.domain;
    if (!(lo < hi)) fail("domain", shortest(lo) + " is not below " + shortest(hi));
  }

  void weight() const {
    const auto& weight = table_.problem.weight;
    for (const auto& [name, value] : weight.parameters) {
      if (!std::isfinite(value)) fail("weight." + name, "is not finite");
    }
    const bool histogram = weight.kind == "histogram";
    if (!histogram && !weight.edges.empty()) fail("weight.edges", "only a histogram has edges");
    if (!weight.is_discrete() && !weight.values.empty()) {
      fail("weight.values", "only samples have values");
    }
    if (!histogram && !weight.is_discrete()) {
      if (!weight.masses.empty()) fail("weight.masses", "only data have masses");
      if (!weight.units.empty()) fail("weight.units", "only data have units");
      return;
    }
    places(weight);
    for (size_t i = 0; i < weight.masses.size(); ++i) {
      non_negative(weight.masses[i], indexed("weight.masses", i));
    }
    for (size_t i = 0; i < weight.units.size(); ++i) {
      const auto& unit = weight.units[i];
      if (std::isfinite(unit.mean) && unit.spread > 0.0 && std::isfinite(unit.spread) &&
          unit.mass >= 0.0 && std::isfinite(unit.mass)) {
        continue;
      }
      fail(indexed("weight.units", i), "needs a finite mean, a positive spread and a mass");
    }
  }

  void places(const WeightSpec& weight) const {
    const bool discrete = weight.is_discrete();
    const std::vector<double>& places = discrete ? weight.values : weight.edges;
    const std::string field = discrete ? "weight.values" : "weight.edges";
    const char* needed = discrete ? ": as many needed" : ": one more needed";
    ascending(places, field);
    if (!weight.masses.empty() && places.size() == weight.masses.size() + (discrete ? 0 : 1))
      return;
    fail(field, std::to_string(places.size()) + (discrete ? " values for " : " edges for ") +
                    std::to_string(weight.masses.size()) + " masses" + needed);
  }

  void non_negative(double value, const std::string& field) const {
    if (value >= 0.0 && std::isfinite(value)) return;
    fail(field, shortest(value) + " is not a finite number from 0 up");
  }

  void levels() const {
    const auto& levels = table_.levels;
    const int size = table_.problem.levels;
    if (size < 2 || size > 256) fail("size", std::to_string(size) + " is not from 2 to 256");
    const size_t least = table_.problem.form == Form::unbiased ? 2 : 1;
    if (levels.size() < least || levels.size() > static_cast<size_t>(size)) {
      fail("levels", counted(levels.size(), "level") + ", but from " + std::to_string(least) +
                         " to " + std::to_string(size) + " are possible");
    }
    ascending(levels, "levels");
  }

  void no_intervals() const {
    if (!table_.thresholds.empty()) fail("thresholds", "the unbiased form has none");
    if (!table_.codes.empty()) fail("codes", "the unbiased form has none");
    if (table_.symmetry != Symmetry::none) fail("symmetry", "the unbiased form has none");
  }

  void thresholds() const {
    const auto& thresholds = table_.thresholds;
    ascending(thresholds, "thresholds");
    if (table_.symmetry == Symmetry::even && !thresholds.empty() && thresholds[0] <= 0.0) {
      fail("thresholds[0]", shortest(thresholds[0]) + ": thresholds of |x| must be positive");
    }
  }

  void codes() const {
    const auto& codes = table_.codes;
    if (codes.size() != table_.thresholds.size() + 1) {
      fail("codes", std::to_string(codes.size()) + " codes for " +
                        std::to_string(table_.thresholds.size()) + " thresholds: one more needed");
    }
    if (table_.problem.form == Form::intervals &&
        codes.size() > static_cast<size_t>(table_.problem.levels)) {
      fail("codes", std::to_string(codes.size()) + " intervals, but " +
                        std::to_string(table_.problem.levels) + " are possible");
    }
    std::vector<char> used(table_.levels.size(), 0);
    for (size_t i = 0; i < codes.size(); ++i) {
      const int code = codes[i];
      if (code < 0 || static_cast<size_t>(code) >= used.size()) {
        fail(indexed("codes", i),
             std::to_string(code) + " is not from 0 to " + std::to_string(used.size() - 1));
      }
      if (i > 0 && codes[i - 1] == code) {
        fail(indexed("codes", i), std::to_string(code) + " twice in a row");
      }
      used[static_cast<size_t>(code)] = 1;
    }
    for (size_t level = 0; level < used.size(); ++level) {
      if (!used[level]) fail(indexed("levels", level), "no code names this level");
    }
  }

  void proof() const {
    const auto& t = table_;
    non_negative(t.error, "error");
    non_negative(t.lower_bound, "lower_bound");
    non_negative(t.relative_gap, "relative_gap");
    non_negative(t.residual, "residual");
    non_negative(t.smoothed_bias, "smoothed_bias");
    if (t.lower_bound > t.error) {
      fail("lower_bound", shortest(t.lower_bound) + " is above the error " + shortest(t.error));
    }
    if (t.relative_gap > 1.0) fail("relative_gap", shortest(t.relative_gap) + " is above 1");
  }

  const Table& table_;
  const std::string& file_;
};

}  // namespace

void check_table(const Table& table, const std::string& file) {
  Checker(table, file).run();
}

}  // namespace fewbit::solver

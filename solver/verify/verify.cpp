#include "verify/verify.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "table/check.hpp"
#include "table/json.hpp"
#include "verify/bias.hpp"
#include "verify/bound.hpp"
#include "verify/conditions.hpp"
#include "verify/discrete.hpp"

namespace fewbit::solver {

namespace {

void check_gap(const Table& table, Findings& findings) {
  const double gap = table.error > 0.0 ? (table.error - table.lower_bound) / table.error : 0.0;
  findings.compare("relative_gap", table.relative_gap, gap, 3e-16 + 1e-9 * gap);
}

/// `noise`: the root of the mean square of what rounding does to f'.
void check_bias(const Table& table, double noise, Findings& findings) {
  try {
    const auto [seen, size] = bias_seen_by_units(table);
    // The mean over all sigma of a mixture is a third integral, known to fewer digits.
    const double exact = table.problem.weight.kind == "mixture" ? 1e-11 : 1e-13;
    findings.compare("smoothed_bias", table.smoothed_bias, seen,
                     2e-10 * seen + exact * size + 4.0 * noise);
  } catch (const Error& error) {
    findings.add("smoothed_bias", true, std::string("not checked: ") + error.what());
  }
}

/// Verifies one table under a density, whose parts fit together.
class Verifier {
 public:
  Verifier(const Table& table, Findings& findings)
      : table_(table),
        findings_(findings),
        axis_(table.problem, table.symmetry == Symmetry::even),
        squared_(!table.problem.objective.smoothed) {}

  void run() {
    if (axis_.folded()) {
      findings_.add("symmetry", axis_.has_even_derivative(), "f' is even");
    }
    const Measured measured = table_.problem.form == Form::unbiased
                                  ? check_unbiased(table_, axis_, findings_)
                                  : check_intervals(table_, axis_, squared_, findings_);
    if (!squared_) check_smoothed(table_, axis_, findings_);
    error(measured.error);
    if (squared_ && table_.problem.dtype == DataType::exact) {
      // Below its rounding a residual is noise: any value up to there will do.
      const double nearest = std::clamp(table_.residual, measured.residual - measured.rounding,
                                        measured.residual + measured.rounding);
      findings_.compare("residual", table_.residual, nearest, 1e-12 + 0.01 * measured.residual);
    }
    check_gap(table_, findings_);
    bound(measured.error);
    check_bias(table_, axis_.noise() / std::sqrt(axis_.total().mass), findings_);
  }

 private:
  static constexpr double kCruder = 32.0;

  double reach_of_noise(double measured) const {
    const double noise = kCruder * axis_.noise();
    return table_.problem.form == Form::unbiased
               ? noise * axis_.span() * std::sqrt(axis_.total().mass)
               : noise * (2.0 * std::sqrt(measured) + noise);
  }

  /// The printed error has what rounding and quadrature may have hidden on top, by an estimate that
  /// is cruder than the one here.
  void error(double measured) {
    const double above = reach_of_noise(measured);
    const double rounding = axis_.hidden(1e-15);
    const double nearest = std::clamp(table_.error, measured, measured + above + on_top(measured));
    findings_.compare("error", table_.error, nearest, 1e-11 * measured + rounding);
  }

  /// By the swing of f'; where that says nothing of how far f' is from q, no more than ten times
  /// the error, which the search refuses.
  double on_top(double measured) const {
    const double most = kCruder * (1e-15 + axis_.displacement()) * axis_.largest();
    return axis_.is_far() ? std::min(most, 9.0 * measured) : most;
  }

  /// Lower bound over the tables that cut `line`, as far as the printed one asks for it.
  double confirm(const Line& line, double attained) const {
    const bool coding = table_.problem.form == Form::unbiased;
    BoundRequest request;
    request.cost = coding ? PartCost::coding : PartCost::spread;
    request.parts = coding ? table_.problem.levels - 1 : table_.problem.levels;
    request.rounding = rounding();
    request.claim = claim();
    request.attained = attained;
    return lower_bound_of(line, request);
  }

  double rounding() const {
    return 1e-14 * axis_.total().second + (2e-16 + axis_.displacement()) * axis_.largest();
  }
  double claim() const { return table_.lower_bound * (1.0 - 1e-12) - 6.0 * rounding(); }

  void bound(double attained) {
    const double most = attained * (1.0 + 1e-9) + axis_.hidden(1e-15) + reach_of_noise(attained);
    if (table_.lower_bound > most) {
      findings_.add("lower_bound", false,
                    fmt::format("printed {}, the table itself has {}", shortest(table_.lower_bound),
                                shortest(attained)));
      return;
    }
    if (claim() <= 0.0) {
      findings_.add("lower_bound", true,
                    shortest(table_.lower_bound) + " is no more than rounding may hide");
      return;
    }
    double seen = 0.0;
    if (table_.problem.form == Form::intervals) {
      seen = std::min(confirm(XLine(axis_), attained), other_class());
    } else {
      const ValueMeasure values(axis_);
      seen = confirm(ValueLine(values), attained);
    }
    findings_.add("lower_bound", seen >= claim(),
                  fmt::format("printed {}, every table is shown to have at least {}",
                              shortest(table_.lower_bound), shortest(seen)));
  }

  /// Cuts of x compete with cuts of |x| where f' is even. Under an even weight the latter win: take
  /// the better half of a table on x and mirror it.
  double other_class() const {
    if (!axis_.has_even_derivative()) return HUGE_VAL;
    const auto weight = make_weight(table_.problem.weight);
    const Domain domain = finite_domain(table_.problem, *weight);
    if (axis_.folded() && weight->is_even() && domain.lo == -domain.hi) return HUGE_VAL;
    if (!axis_.folded() && domain.lo >= 0.0) return HUGE_VAL;
    const InputAxis other(table_.problem, !axis_.folded());
    return confirm(XLine(other), HUGE_VAL);
  }

  const Table& table_;
  Findings& findings_;
  const InputAxis axis_;
  bool squared_;
};

/// JSON without the white space between its tokens.
std::string without_space(const std::string& json) {
  std::string text;
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (!quoted && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) continue;
    text += c;
    if (quoted && c == '\\' && i + 1 < json.size()) text += json[++i];
    if (c == '"') quoted = !quoted;
  }
  return text;
}

}  // namespace

std::vector<Finding> verify_table(const Table& table) {
  Findings findings;
  try {
    check_table(table);
    if (table.problem.weight.is_discrete()) {
      const double noise = check_discrete(table, findings);
      check_gap(table, findings);
      check_bias(table, noise, findings);
    } else {
      Verifier(table, findings).run();
    }
  } catch (const Error& error) {
    findings.add("table", false, error.what());
  }
  return findings.take();
}

std::vector<Finding> verify_file(const std::string& path, bool canonical) {
  const std::string text = read_text_file(path);
  const Table table = from_json(text, path);
  std::vector<Finding> findings = verify_table(table);
  const std::string expected = to_json(table);
  Finding finding{"text", true, "canonical"};
  if (text != expected) {
    const bool spaces = without_space(text) == without_space(expected);
    finding.holds = spaces && !canonical;
    finding.detail = spaces ? "differs from the canonical text of this table in white space alone"
                            : "differs from the canonical text of this table";
  }
  findings.insert(findings.begin(), finding);
  return findings;
}

}  // namespace fewbit::solver

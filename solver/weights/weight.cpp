#include "weights/weight.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "weights/densities.hpp"
#include "weights/histogram.hpp"
#include "weights/parse.hpp"

namespace fewbit::solver {

namespace {

constexpr double kLargestSigma = 1e12;
constexpr double kSmallestSigma = 1e-12;
constexpr double kMostSigmasFromZero = 1e9;
constexpr double kFewestDegrees = 1e-3;
constexpr double kMostDegrees = 1e9;

double parameter(const WeightSpec& spec, std::string_view name) {
  const NamedValue* found = nullptr;
  for (const auto& entry : spec.parameters) {
    if (entry.first != name) continue;
    if (found != nullptr) throw Error("weight " + spec.kind + ": two values for " + entry.first);
    found = &entry;
  }
  if (found == nullptr)
    throw Error("weight " + spec.kind + ": " + std::string(name) + " is missing");
  return found->second;
}

double sigma_parameter(const WeightSpec& spec, std::string_view name) {
  const double sigma = parameter(spec, name);
  if (!(sigma >= kSmallestSigma && sigma <= kLargestSigma)) {
    throw Error("weight " + spec.kind + ": " + std::string(name) + " is " + shortest(sigma) +
                ", accepted are 1e-12 to 1e+12");
  }
  return sigma;
}

void check_names(const WeightSpec& spec, std::initializer_list<std::string_view> accepted) {
  for (const auto& entry : spec.parameters) {
    if (std::find(accepted.begin(), accepted.end(), entry.first) != accepted.end()) continue;
    std::string names;
    for (const auto name : accepted) names += (names.empty() ? "" : ", ") + std::string(name);
    throw Error("weight " + spec.kind + ": unknown parameter " + entry.first +
                ", accepted: " + (names.empty() ? "none" : names));
  }
  if (!spec.values.empty()) throw Error("weight " + spec.kind + ": takes no values");
  if (spec.kind != "histogram" &&
      !(spec.edges.empty() && spec.masses.empty() && spec.units.empty())) {
    throw Error("weight " + spec.kind + ": takes neither edges nor masses nor units");
  }
}

/// Refuses a mean so far from 0 that doubles hardly tell its surroundings apart; `width` is the
/// sigma or the scale, `widths` what many of them are called.
void check_mean(const WeightSpec& spec, double mean, double width, const char* widths) {
  if (std::fabs(mean) <= kMostSigmasFromZero * width) return;
  throw Error("weight " + spec.kind + ": mean is " + shortest(mean) +
              ", accepted are at most 1e+09 " + widths);
}

std::unique_ptr<Weight> checked_normal(const WeightSpec& spec) {
  check_names(spec, {"mean", "sigma"});
  const double mean = parameter(spec, "mean");
  const double sigma = sigma_parameter(spec, "sigma");
  check_mean(spec, mean, sigma, "sigmas");
  return make_normal(mean, sigma);
}

std::unique_ptr<Weight> checked_laplace(const WeightSpec& spec) {
  check_names(spec, {"mean", "scale"});
  const double mean = parameter(spec, "mean");
  const double scale = sigma_parameter(spec, "scale");
  check_mean(spec, mean, scale, "scales");
  return make_laplace(mean, scale);
}

std::unique_ptr<Weight> checked_student_t(const WeightSpec& spec) {
  check_names(spec, {"mean", "scale", "degrees"});
  const double mean = parameter(spec, "mean");
  const double scale = sigma_parameter(spec, "scale");
  const double degrees = parameter(spec, "degrees");
  check_mean(spec, mean, scale, "scales");
  if (!(degrees >= kFewestDegrees && degrees <= kMostDegrees)) {
    throw Error("weight student-t: degrees is " + shortest(degrees) +
                ", accepted are 0.001 to 1e+09");
  }
  return make_student_t(mean, scale, degrees);
}

std::unique_ptr<Weight> checked_mixture(const WeightSpec& spec) {
  check_names(spec, {"sigma_min", "sigma_max"});
  const double low = sigma_parameter(spec, "sigma_min");
  const double high = sigma_parameter(spec, "sigma_max");
  if (!(low < high)) {
    throw Error("weight mixture: sigma_min " + shortest(low) + " must be less than sigma_max " +
                shortest(high));
  }
  return make_mixture(low, high);
}

std::unique_ptr<Weight> checked_histogram(const WeightSpec& spec) {
  check_names(spec, {});
  check_histogram(spec.edges, spec.masses);
  double total = 0.0;
  for (const UnitSpec& unit : spec.units) {
    if (!(std::fabs(unit.mean) <= kLargestInput && unit.spread > 0.0 &&
          unit.spread <= kLargestInput && unit.mass >= 0.0)) {
      throw Error("histogram: a unit has mean " + shortest(unit.mean) + ", spread " +
                  shortest(unit.spread) + ", mass " + shortest(unit.mass) +
                  "; spreads must be positive, masses not negative, all finite");
    }
    total += unit.mass;
  }
  if (!spec.units.empty() && !(std::fabs(total - 1.0) <= 1e-9)) {
    throw Error("histogram: masses of the units sum to " + shortest(total) + ", not 1");
  }
  return make_histogram(spec.edges, spec.masses);
}

}  // namespace

std::unique_ptr<Weight> make_weight(const WeightSpec& spec) {
  if (spec.kind == "normal") return checked_normal(spec);
  if (spec.kind == "mixture") return checked_mixture(spec);
  if (spec.kind == "laplace") return checked_laplace(spec);
  if (spec.kind == "student-t") return checked_student_t(spec);
  if (spec.kind == "histogram") return checked_histogram(spec);
  if (spec.is_discrete()) throw Error("weight samples: single values have no density");
  if (spec.kind != "uniform") throw Error(unknown_weight(spec.kind));
  check_names(spec, {});
  return make_uniform();
}

}  // namespace fewbit::solver

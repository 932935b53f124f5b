#include "weights/discrete.hpp"

#include <cmath>
#include <string>

#include "base/error.hpp"
#include "base/text.hpp"
#include "weights/densities.hpp"

namespace fewbit::solver {

namespace {

void check_values(const WeightSpec& spec) {
  const auto fail = [](const std::string& message) { throw Error("samples: " + message); };
  const std::vector<double>& values = spec.values;
  if (values.empty() || values.size() > kMostValues) {
    fail(counted(values.size(), "value") + ", accepted are 1 to " + std::to_string(kMostValues));
  }
  if (values.size() != spec.masses.size()) {
    fail(counted(values.size(), "value") + " need as many masses, got " +
         std::to_string(spec.masses.size()));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!(std::fabs(values[i]) <= kLargestInput)) {
      fail("value " + shortest(values[i]) + " is not a number within +-1e+100");
    }
    if (i > 0 && !(values[i - 1] < values[i])) {
      fail("values must ascend: " + shortest(values[i - 1]) + " is followed by " +
           shortest(values[i]));
    }
    if (!(spec.masses[i] >= 0.0 && spec.masses[i] <= kLargestInput)) {
      fail("mass " + shortest(spec.masses[i]) + " is not a number from 0 to 1e+100");
    }
  }
}

}  // namespace

double DiscreteWeight::mass() const {
  double sum = 0.0;
  for (const ValueMass& point : points) sum += point.mass;
  return sum;
}

DiscreteWeight discrete_weight(const WeightSpec& spec, const Domain& domain) {
  check_values(spec);
  DiscreteWeight weight{domain, {}};
  if (std::isinf(domain.lo)) weight.domain.lo = spec.values.front();
  if (std::isinf(domain.hi)) weight.domain.hi = spec.values.back();
  for (size_t i = 0; i < spec.values.size(); ++i) {
    const double value = spec.values[i];
    const bool inside = value >= weight.domain.lo && value <= weight.domain.hi;
    if (inside && spec.masses[i] > 0.0) weight.points.push_back({value, spec.masses[i]});
  }
  if (!(weight.domain.lo < weight.domain.hi) || weight.points.empty()) {
    throw Error("weight: has no mass in the domain [" + shortest(domain.lo) + ", " +
                shortest(domain.hi) + "], or a single value and no room around it");
  }
  return weight;
}

}  // namespace fewbit::solver

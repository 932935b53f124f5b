#include "tables/step_functions.hpp"

#include <algorithm>
#include <cmath>

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include "fewbit/table.hpp"

namespace fewbit {

namespace {

/// A parameter as torch's kernels compare it with elements of a type: as a float with the 16-bit
/// types too.
double as_compared(double parameter, at::ScalarType type) {
  return type == at::kDouble ? parameter : static_cast<double>(static_cast<float>(parameter));
}

/// But in those that shrink it has the type itself.
double as_element(double parameter, at::ScalarType type) {
  if (type == at::kBFloat16)
    return static_cast<double>(static_cast<float>(c10::BFloat16(static_cast<float>(parameter))));
  if (type == at::kHalf)
    return static_cast<double>(static_cast<float>(c10::Half(static_cast<float>(parameter))));
  return as_compared(parameter, type);
}

/// x > below(t) is x >= t.
double below(double t, at::ScalarType type) {
  if (type == at::kDouble) return std::nextafter(t, -INFINITY);
  return static_cast<double>(std::nextafter(static_cast<float>(t), -INFINITY));
}

StepFunction above(double threshold) {
  return {{threshold}, {0, 1}, 1, {0.0, 1.0}};
}

StepFunction between(double low, double high, at::ScalarType type) {
  return {{as_compared(low, type), below(as_compared(high, type), type)}, {0, 1, 0}, 0, {0.0, 1.0}};
}

StepFunction leaky(double slope) {
  if (slope == 0.0) slope = -0.0;  // torch multiplies here too
  if (slope < 1.0) return {{0.0}, {0, 1}, 0, {slope, 1.0}};
  return {{0.0}, {1, 0}, 1, {1.0, slope}};
}

StepFunction hard_sigmoid(at::ScalarType type) {
  StepFunction steps = between(-3.0, 3.0, type);
  steps.levels[1] = static_cast<double>(1.0f / 6.0f);  // in double too
  return steps;
}

StepFunction outside(double lambda) {
  StepFunction steps = above(lambda);
  steps.nan_code = 0;
  steps.even = true;
  return steps;
}

StepFunction steps_of(const TableData& data) {
  return {{data.thresholds.begin(), data.thresholds.end()},
          data.interval_codes,
          data.interval_codes[0],
          {data.levels.begin(), data.levels.end()},
          data.even};
}

/// Whether they agree between kinks, at least as floats.
bool are_like(const StepFunction& a, const StepFunction& b) {
  std::vector<double> kinks;
  for (const double t : a.thresholds) {
    kinks.push_back(t);
    if (a.even) kinks.push_back(-t);
  }
  std::sort(kinks.begin(), kinks.end());
  std::vector<double> x = {2.0 * kinks.front() - 1.0, 2.0 * kinks.back() + 1.0};
  for (size_t i = 1; i < kinks.size(); ++i) x.push_back(0.5 * (kinks[i - 1] + kinks[i]));
  return std::all_of(x.begin(), x.end(), [&](double at) {
    const bool is_kink = std::find(kinks.begin(), kinks.end(), at) != kinks.end();
    return is_kink || static_cast<float>(a(at)) == static_cast<float>(b(at));
  });
}

}  // namespace

double StepFunction::operator()(double x) const {
  const double compared = even ? std::fabs(x) : x;
  const auto passed = std::count_if(thresholds.begin(), thresholds.end(),
                                    [&](double threshold) { return compared > threshold; });
  return levels[codes[static_cast<size_t>(passed)]];
}

std::optional<StepFunction> torch_steps(const std::string& function,
                                        const std::vector<double>& parameters,
                                        at::ScalarType type) {
  if (function == "relu") return above(0.0);
  if (function == "threshold") return above(as_compared(parameters[0], type));
  if (function == "leaky_relu") return leaky(parameters[0]);
  if (function == "relu6") return between(0.0, 6.0, type);
  if (function == "hardtanh") return between(parameters[0], parameters[1], type);
  if (function == "hardsigmoid") return hard_sigmoid(type);
  if (function == "hardshrink" || function == "softshrink") {
    return outside(as_element(parameters[0], type));
  }
  return std::nullopt;
}

std::optional<StepFunction> exact_steps(const TableData& data, at::ScalarType type) {
  if (data.interval_codes.empty() || data.error != 0.0) return std::nullopt;
  auto steps = torch_steps(data.function, data.parameters, type);
  if (!steps || !are_like(*steps, steps_of(data))) return std::nullopt;
  return steps;
}

}  // namespace fewbit

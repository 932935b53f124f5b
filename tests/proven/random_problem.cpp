#include "tests/proven/random_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <rapidcheck.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "functions/registry.hpp"
#include "search/setting.hpp"
#include "weights/weight.hpp"

namespace fewbit::test {

namespace {

using namespace fewbit::solver;

/// From 10^lo to 10^hi, a number of few digits.
double magnitude_between(int lo, int hi) {
  const int tenths = *rc::gen::inRange(10 * lo, 10 * hi + 1);
  return std::strtod(fmt::format("{:.2e}", std::pow(10.0, tenths / 10.0)).c_str(), nullptr);
}

double signed_magnitude(int lo, int hi) {
  return (*rc::gen::arbitrary<bool>() ? 1.0 : -1.0) * magnitude_between(lo, hi);
}

double within(const Domain& domain) {
  return domain.lo + (domain.hi - domain.lo) * *rc::gen::inRange(0, 1001) / 1000.0;
}

Domain any_domain() {
  const double scale = magnitude_between(-6, 8);
  const double middle = *rc::gen::inRange(0, 3) > 0 ? 0.0 : scale * *rc::gen::inRange(-5, 6);
  const double lean = *rc::gen::inRange(0, 3) > 0 ? 1.0 : *rc::gen::inRange(1, 100) / 100.0;
  return {middle - scale, middle + lean * scale};
}

/// Features are about as wide as the parameters, or their inverses.
void draw_registered(RandomProblem& drawn) {
  drawn.problem.function = any_registered();
  drawn.features.centers = {0.0};
  drawn.features.finest = 1e-4;
  for (const auto& [name, value] : drawn.problem.function.parameters) {
    if (value == 0.0) continue;
    drawn.features.centers.insert(drawn.features.centers.end(), {value, -value});
    const double width = std::min(std::abs(value), 1.0 / std::abs(value));
    drawn.features.finest = std::min(drawn.features.finest, 1e-4 * width);
  }
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), by);
  }
  return text;
}

/// A function whose derivative changes once, over 1 / s around c.
std::string any_feature(const Domain& domain, double size, Features& features) {
  const double s = magnitude_between(-1, 8) / (domain.hi - domain.lo);
  const double c = within(domain);
  features.centers.push_back(c);
  features.finest = std::min(features.finest, 1e-4 / s);
  const std::string form = *rc::gen::element<std::string>(
      "tanh(u)/s", "softplus(u)/s", "(x - c)*normcdf(u)", "(x - c)*sigmoid(u)", "erf(u)/s",
      "where(x > c, x, 0.25*x)", "sqrt(1 + (u)^2)/s", "atan(u)/s", "sin(2*tanh(u))/s",
      "log1p((u)^2)/s", "max(tanh(u), -0.5)/s", "abs(x - c)", "where(x == c, 1, tanh(u)/(u))/s",
      "where(x == c, 0, 2*sin(0.5*tanh(u))^2/(u))/s");
  const std::string with_u = replaced(form, "u)", "S*(x - C))");
  std::string text =
      replaced(replaced(replaced(with_u, "(u", "(S*(x - C)"), "/s", "/S"), "x - c", "x - C");
  text = replaced(replaced(text, "x > c", "x > C"), "x == c", "x == C");
  text = replaced(text, "S", shortest(s));
  return "(" + shortest(size) + ")*(" + replaced(text, "C", "(" + shortest(c) + ")") + ")";
}

void draw_expression(RandomProblem& drawn) {
  const Domain& domain = drawn.problem.domain;
  drawn.features.finest = 1e-4 * (domain.hi - domain.lo);
  std::string text = any_feature(domain, 1.0, drawn.features);
  if (*rc::gen::arbitrary<bool>()) {
    text += " + " + any_feature(domain, signed_magnitude(-4, 0), drawn.features);
  }
  if (*rc::gen::inRange(0, 4) == 0) text += " + (" + shortest(signed_magnitude(-2, 6)) + ")*x";
  if (*rc::gen::inRange(0, 4) == 0) {
    text = "(" + shortest(magnitude_between(-30, 30)) + ")*(" + text + ")";
  }
  drawn.problem.function = custom_function("drawn", text);
}

WeightSpec any_histogram(const Domain& domain) {
  WeightSpec spec;
  spec.kind = "histogram";
  const int bins = *rc::gen::inRange(1, 40);
  std::vector<double> edges{domain.lo, domain.hi};
  for (int i = 1; i < bins; ++i) edges.push_back(within(domain));
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  spec.edges = edges;
  for (size_t i = 0; i + 1 < edges.size(); ++i) spec.masses.push_back(*rc::gen::inRange(1, 1000));
  return spec;
}

void draw_weight(RandomProblem& drawn) {
  const Domain& domain = drawn.problem.domain;
  WeightSpec& weight = drawn.problem.weight;
  weight.kind = *rc::gen::element<std::string>("uniform", "uniform", "normal", "normal", "mixture",
                                               "laplace", "student-t", "histogram");
  if (weight.kind == "uniform") return;
  if (weight.kind == "histogram") {
    weight = any_histogram(domain);
    return;
  }
  const double any = magnitude_between(-7, 2) * (domain.hi - domain.lo);
  const double scale = std::clamp(any, 1e-12, 1e8);
  drawn.features.finest = std::min(drawn.features.finest, 1e-3 * scale);
  if (weight.kind == "mixture") {
    weight.parameters = {{"sigma_min", scale}, {"sigma_max", scale * magnitude_between(1, 4)}};
    drawn.features.centers.push_back(0.0);
    return;
  }
  const double mean = *rc::gen::arbitrary<bool>() ? within(domain) : drawn.features.centers.front();
  drawn.features.centers.push_back(mean);
  weight.parameters = {{"mean", mean}, {weight.kind == "normal" ? "sigma" : "scale", scale}};
  if (weight.kind == "student-t") {
    weight.parameters.emplace_back("degrees", magnitude_between(0, 2));
  }
}

}  // namespace

FunctionSpec any_registered() {
  const FunctionInfo& info = *rc::gen::elementOf(registry());
  std::string text = info.name;
  for (const ParameterInfo& parameter : info.parameters) {
    if (*rc::gen::inRange(0, 3) == 0) continue;  // the default
    const double any = parameter.lo < 0.0 ? signed_magnitude(-6, 6) : magnitude_between(-6, 6);
    const double value = std::clamp(any, parameter.lo_open ? 1e-6 : parameter.lo, parameter.hi);
    text += (text == info.name ? ":" : ",") + parameter.name + "=" + shortest(value);
  }
  try {
    return parse_function(text);
  } catch (const Error&) {
    return parse_function(info.name);  // min above max and the like
  }
}

RandomProblem any_problem() {
  RandomProblem drawn;
  drawn.problem.domain = any_domain();
  if (*rc::gen::inRange(0, 3) == 0) {
    draw_registered(drawn);
  } else {
    draw_expression(drawn);
  }
  draw_weight(drawn);
  drawn.problem.form = *rc::gen::element(Form::levels, Form::intervals, Form::unbiased);
  drawn.problem.levels = 1 << *rc::gen::inRange(1, 5);
  const Problem& problem = drawn.problem;
  drawn.text =
      fmt::format("--expr '{}' --name drawn --levels {} --form {} --domain {},{} --weight {}",
                  expression_of(problem.function).text(), problem.levels, to_string(problem.form),
                  shortest(problem.domain.lo), shortest(problem.domain.hi), problem.weight.kind);
  for (const auto& [name, value] : problem.function.parameters) {
    drawn.text += " (" + name + "=" + shortest(value) + ")";
  }
  const char* mark = ":";
  for (const auto& [name, value] : problem.weight.parameters) {
    drawn.text += mark + shortest(value);
    mark = ",";
  }
  return drawn;
}

}  // namespace fewbit::test

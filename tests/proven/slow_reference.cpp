#include "tests/proven/slow_reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "expression/evaluate.hpp"
#include "weights/weight.hpp"

namespace fewbit::test {

namespace {

constexpr double kRatio = 1.05;
constexpr int kIterations = 60;
constexpr double kFinerThanDouble = 512.0;  // 2^11 but for luck

// Gauss-Legendre with five points on [-1, 1].
constexpr std::array<double, 5> kAbscissae = {-0.9061798459386640, -0.5384693101056831, 0.0,
                                              0.5384693101056831, 0.9061798459386640};
constexpr std::array<double, 5> kWeights = {0.2369268850561891, 0.4786286704993665,
                                            0.5688888888888889, 0.4786286704993665,
                                            0.2369268850561891};

std::vector<double> grid(const solver::Domain& domain, const Features& features,
                         std::vector<double> points) {
  points.insert(points.end(), {domain.lo, domain.hi});
  const double longest = domain.hi - domain.lo;
  for (const double center : features.centers) {
    points.push_back(center);
    for (double away = features.finest; away < 2.0 * longest; away *= kRatio) {
      points.push_back(center - away);
      points.push_back(center + away);
    }
  }
  for (int i = 1; i < 1000; ++i) points.push_back(domain.lo + longest * i / 1000);
  std::erase_if(points, [&](double x) { return !(x >= domain.lo && x <= domain.hi); });
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

}  // namespace

SlowReference::SlowReference(const solver::Problem& problem, const solver::Domain& domain,
                             const Features& features, std::vector<double> cuts) {
  const auto f =
      solver::Expression::parse(problem.function.expression, problem.function.parameters);
  const auto weight = solver::make_weight(problem.weight);
  const std::vector<double> points = grid(domain, features, std::move(cuts));
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    const double half = 0.5 * (points[i + 1] - points[i]);
    const double middle = points[i] + half;
    for (size_t j = 0; j < kAbscissae.size(); ++j) {
      const double x = middle + half * kAbscissae[j];
      if (x <= points[i] || x >= points[i + 1]) continue;  // no double lies between
      const auto jet = f.evaluate(solver::Jet<long double>{x, 1.0L, 0.0L});
      const double rounded = f.evaluate(solver::Jet<double>{x, 1.0, 0.0}).first;
      // What does not depend on x is rounded to double once, by definition.
      const long double value = jet.second == 0.0L ? rounded : jet.first;
      worst_rounding_ = std::max({worst_rounding_, 2e-16 * std::abs(rounded),
                                  static_cast<double>(std::abs(value - rounded))});
      const double mass = half * kWeights[j] * weight->density(x);
      const double own = static_cast<double>(std::abs(value - rounded)) / kFinerThanDouble;
      own_noise_ += mass * own * own;
      nodes_.push_back({x, value, mass});
      if (mass > 0.0) by_value_.push_back(nodes_.back());
    }
  }
  std::sort(by_value_.begin(), by_value_.end(),
            [](const Node& a, const Node& b) { return a.value < b.value; });
}

double SlowReference::mass() const {
  long double sum = 0.0L;
  for (const Node& node : nodes_) sum += node.mass;
  return static_cast<double>(sum);
}

double SlowReference::range() const {
  if (by_value_.empty()) return 0.0;
  return static_cast<double>(by_value_.back().value - by_value_.front().value);
}

double SlowReference::noise() const {
  return worst_rounding_ * std::sqrt(mass());
}

double SlowReference::own_noise() const {
  return std::sqrt(own_noise_);
}

double SlowReference::error(const solver::Table& table) const {
  const std::vector<double>& levels = table.levels;
  long double sum = 0.0L;
  for (const Node& node : nodes_) {
    long double square = 0.0L;
    if (table.problem.form == solver::Form::unbiased) {
      const long double v = std::clamp<long double>(node.value, levels.front(), levels.back());
      const auto above = std::upper_bound(levels.begin() + 1, levels.end() - 1, v);
      square = (v - *(above - 1)) * (*above - v);
    } else {
      const double level = levels[static_cast<size_t>(table.codes[table.interval_of(node.x)])];
      square = (node.value - level) * (node.value - level);
    }
    sum += node.mass * square;
  }
  return static_cast<double>(sum);
}

/// Lloyd's iteration over values in order.
double SlowReference::descend(std::vector<double> levels) const {
  double best = INFINITY;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    std::sort(levels.begin(), levels.end());
    std::vector<long double> mass(levels.size());
    std::vector<long double> first(levels.size());
    long double error = 0.0L;
    size_t near = 0;
    for (const Node& node : by_value_) {
      while (near + 1 < levels.size() && node.value > 0.5 * (levels[near] + levels[near + 1])) {
        ++near;
      }
      const long double off = node.value - levels[near];
      mass[near] += node.mass;
      first[near] += node.mass * off;
      error += node.mass * off * off;
    }
    if (!(error < best * (1.0 - 1e-9))) break;
    best = static_cast<double>(error);
    for (size_t k = 0; k < levels.size(); ++k) {
      if (mass[k] > 0.0L) levels[k] += static_cast<double>(first[k] / mass[k]);
    }
  }
  return best;
}

double SlowReference::lloyd(int count) const {
  if (by_value_.empty()) return 0.0;
  const auto k = static_cast<size_t>(count);
  std::vector<double> by_mass;
  std::vector<double> by_range;
  const double all = mass();
  double passed = 0.0;
  for (const Node& node : by_value_) {
    while (by_mass.size() < k &&
           passed >= all * (static_cast<double>(by_mass.size()) + 0.5) / count) {
      by_mass.push_back(static_cast<double>(node.value));
    }
    passed += node.mass;
  }
  by_mass.resize(k, static_cast<double>(by_value_.back().value));
  for (size_t i = 0; i < k; ++i) {
    by_range.push_back(static_cast<double>(by_value_.front().value) +
                       range() * (static_cast<double>(i) + 0.5) / count);
  }
  std::vector<double> mixed;
  for (size_t i = 0; i < k; ++i) mixed.push_back(i % 2 == 0 ? by_mass[i] : by_range[i]);
  return std::min({descend(by_mass), descend(by_range), descend(mixed)});
}

}  // namespace fewbit::test

#include "search/newton.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace fewbit::solver {

namespace {

/// g = 0 with a tridiagonal Jacobian; row i: lower[i] d[i-1] + diagonal[i] d[i] + upper[i] d[i+1].
struct System {
  explicit System(size_t n) : g(n), lower(n), diagonal(n, 1.0), upper(n) {}
  std::vector<double> g;
  std::vector<double> lower;
  std::vector<double> diagonal;
  std::vector<double> upper;

  double residual() const {
    double largest = 0.0;
    for (const double value : g) largest = std::max(largest, std::abs(value));
    return largest;
  }

  /// The Newton step (Thomas' algorithm); not finite where the matrix is singular.
  std::vector<double> step() const {
    const size_t n = g.size();
    std::vector<double> ratio(n);
    std::vector<double> result(n);
    double pivot = diagonal[0];
    result[0] = -g[0] / pivot;
    for (size_t i = 1; i < n; ++i) {
      ratio[i] = upper[i - 1] / pivot;
      pivot = diagonal[i] - lower[i] * ratio[i];
      result[i] = (-g[i] - lower[i] * result[i - 1]) / pivot;
    }
    for (size_t i = n - 1; i-- > 0;) result[i] -= ratio[i + 1] * result[i + 1];
    return result;
  }
};

using Linearise = std::function<System(const std::vector<double>&)>;

bool ascends_within(const Axis& axis, const std::vector<double>& cuts) {
  double last = axis.lo();
  for (const double cut : cuts) {
    if (!(cut > last)) return false;
    last = cut;
  }
  return axis.hi() > last;
}

std::vector<double> newton(const Axis& axis, std::vector<double> cuts, const Linearise& linearise,
                           double enough = 0.0) {
  constexpr int kIterations = 40;
  // Where less than all is asked for, steps that a histogram's corners stop are not worth
  // insisting.
  const int halvings = enough > 0.0 ? 2 : 12;
  if (cuts.empty()) return cuts;
  System system = linearise(cuts);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const double residual = system.residual();
    if (residual <= enough) break;
    const std::vector<double> step = system.step();
    bool improved = false;
    double length = 1.0;
    for (int halving = 0; halving < halvings && !improved; ++halving, length *= 0.5) {
      std::vector<double> trial = cuts;
      for (size_t i = 0; i < cuts.size(); ++i) trial[i] += length * step[i];
      if (!ascends_within(axis, trial)) continue;
      System next = linearise(trial);
      if (next.residual() < residual) {
        improved = true;
        cuts = std::move(trial);
        system = std::move(next);
      }
    }
    if (!improved) break;
  }
  return cuts;
}

struct Segments {
  std::vector<Moments> prefix;  ///< at the ends and all cuts
  std::vector<double> mean;
  std::vector<double> mass;
};

Segments segments_of(const Axis& axis, const std::vector<double>& cuts) {
  Segments segments;
  segments.prefix.push_back({});
  for (const double cut : cuts) segments.prefix.push_back(axis.prefix(cut));
  segments.prefix.push_back(axis.prefix(axis.hi()));
  for (size_t i = 0; i + 1 < segments.prefix.size(); ++i) {
    const Moments moments = segments.prefix[i + 1] - segments.prefix[i];
    segments.mass.push_back(moments.mass);
    segments.mean.push_back(moments.first / moments.mass);
  }
  return segments;
}

std::vector<double> drop_empty_segments(const Axis& axis, const std::vector<double>& cuts) {
  const double total = axis.prefix(axis.hi()).mass;
  const double least = 1e-15 * total;
  std::vector<double> kept;
  double mass = 0.0;
  for (const double cut : cuts) {
    const double here = axis.prefix(cut).mass;
    if (cut > axis.lo() && here - mass > least && total - here > least) {
      kept.push_back(cut);
      mass = here;
    }
  }
  return kept;
}

System mean_system(const Axis& axis, const std::vector<double>& cuts) {
  const Segments segments = segments_of(axis, cuts);
  System system(cuts.size());
  std::vector<double> densities;
  for (const double cut : cuts) densities.push_back(axis.density(cut));
  for (size_t i = 0; i < cuts.size(); ++i) {
    const double left = segments.mean[i];
    const double right = segments.mean[i + 1];
    const double middle = 0.5 * (left + right);
    if (axis.jumps_across(cuts[i], middle)) continue;
    const double value = axis.value(cuts[i]);
    system.g[i] = value - middle;
    system.diagonal[i] = axis.slope(cuts[i]) -
                         0.5 * densities[i] * (value - left) / segments.mass[i] -
                         0.5 * densities[i] * (right - value) / segments.mass[i + 1];
    if (i > 0) {
      system.lower[i] =
          0.5 * densities[i - 1] * (axis.value(cuts[i - 1]) - left) / segments.mass[i];
    }
    if (i + 1 < cuts.size()) {
      system.upper[i] =
          -0.5 * densities[i + 1] * (axis.value(cuts[i + 1]) - right) / segments.mass[i + 1];
    }
  }
  return system;
}

/// A level at a value that f' takes on a whole stretch stays there when the imbalance changes its
/// sign by counting that stretch on the other side.
bool rests_on_mass(const Axis& axis, double level, double lower, double upper, double imbalance) {
  const double here = axis.prefix(level).mass;
  const double just_below = axis.prefix(std::nextafter(level, -INFINITY)).mass;
  return imbalance - (upper - lower) * (here - just_below) <= 0.0;
}

System rounding_system(const Axis& axis, const std::vector<double>& cuts) {
  const Segments segments = segments_of(axis, cuts);
  System system(cuts.size());
  for (size_t i = 0; i < cuts.size(); ++i) {
    const double lower = axis.value(i == 0 ? axis.lo() : cuts[i - 1]);
    const double upper = axis.value(i + 1 == cuts.size() ? axis.hi() : cuts[i + 1]);
    const double mass_below = segments.mass[i];
    const double mass_above = segments.mass[i + 1];
    const double first_below = segments.prefix[i + 1].first - segments.prefix[i].first;
    const double first_above = segments.prefix[i + 2].first - segments.prefix[i + 1].first;
    const double imbalance =
        (first_below - lower * mass_below) - (upper * mass_above - first_above);
    if (imbalance >= 0.0 && rests_on_mass(axis, cuts[i], lower, upper, imbalance)) continue;
    system.g[i] = imbalance;
    system.diagonal[i] = (upper - lower) * axis.density(cuts[i]);
    system.lower[i] = -mass_below;
    system.upper[i] = -mass_above;
  }
  return system;
}

/// Where f' is nearly flat its values crowd so much that Newton's linear model is of no use: each
/// level in turn to its best place, while that moves anything.
std::vector<double> sweep_levels(const Axis& axis, std::vector<double> cuts) {
  constexpr int kSweeps = 12;
  const double negligible = 1e-14 * (axis.hi() - axis.lo());
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double moved = 0.0;
    for (size_t i = 0; i < cuts.size(); ++i) {
      const double lower = i == 0 ? axis.lo() : cuts[i - 1];
      const double upper = i + 1 == cuts.size() ? axis.hi() : cuts[i + 1];
      const double best = best_level_between(axis, lower, upper);
      moved = std::max(moved, std::abs(best - cuts[i]));
      cuts[i] = best;
    }
    if (moved <= negligible) break;
  }
  return cuts;
}

}  // namespace

std::vector<double> polish_means(const Axis& axis, const std::vector<double>& cuts, double enough) {
  return newton(
      axis, drop_empty_segments(axis, cuts),
      [&axis](const std::vector<double>& at) { return mean_system(axis, at); }, enough);
}

std::vector<double> polish_rounding(const Axis& axis, const std::vector<double>& cuts) {
  std::vector<double> distinct;
  for (const double cut : cuts) {
    const double last = distinct.empty() ? axis.lo() : distinct.back();
    if (cut > last && cut < axis.hi()) distinct.push_back(cut);
  }
  const Linearise linearise = [&axis](const std::vector<double>& at) {
    return rounding_system(axis, at);
  };
  std::vector<double> first = newton(axis, distinct, linearise);
  const double scale = axis.prefix(axis.hi()).mass * (axis.hi() - axis.lo());
  if (first.empty() || linearise(first).residual() <= 1e-13 * scale) return first;
  // A sweep puts levels on values with mass exactly, and Newton the others around them, which may
  // push them off again.
  std::vector<double> second = newton(axis, sweep_levels(axis, first), linearise);
  if (linearise(second).residual() <= 1e-13 * scale) return second;
  return sweep_levels(axis, second);
}

double best_level_between(const Axis& axis, double lower, double upper) {
  const Moments below = axis.prefix(lower);
  const Moments above = axis.prefix(upper);
  double lo = lower;
  double hi = upper;
  lower = axis.value(lower);
  upper = axis.value(upper);
  for (;;) {
    const double middle = 0.5 * (lo + hi);
    if (middle <= lo || middle >= hi) return hi;
    const Moments here = axis.prefix(middle);
    const double pull_down = (here.first - below.first) - lower * (here.mass - below.mass);
    const double pull_up = upper * (above.mass - here.mass) - (above.first - here.first);
    (pull_down < pull_up ? lo : hi) = middle;
  }
}

}  // namespace fewbit::solver

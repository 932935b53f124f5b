#pragma once

namespace fewbit::solver {

/// Integrals of w, w v and w v^2 over a set of x, with v = f' less some centre: all that the
/// squared error needs of it (Few-Bit Backward, equations 8 and 9).
struct Moments {
  double mass = 0.0;
  double first = 0.0;
  double second = 0.0;

  /// The same of v + by.
  Moments shifted(double by) const {
    return {mass, first + by * mass, second + by * (2.0 * first + by * mass)};
  }

  Moments& operator+=(const Moments& other) {
    mass += other.mass;
    first += other.first;
    second += other.second;
    return *this;
  }
  friend Moments operator+(Moments a, const Moments& b) { return a += b; }
  friend Moments operator-(const Moments& a, const Moments& b) {
    return {a.mass - b.mass, a.first - b.first, a.second - b.second};
  }
};

}  // namespace fewbit::solver

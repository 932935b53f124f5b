// Follows W. Gautschi, "Orthogonal Polynomials: Computation and Approximation", 2.2.3 (discretised
// Stieltjes procedure) and 3.1.1 (Golub and Welsch). Linear in the number of bins: a data set's
// thousand bins become some eighty points without loss on the scale that the smoothing sees.
// Invariant: every bin's share of a stretch enters as eight Gauss-Legendre points, so the moments
// that the eight-point rule must match (degree 15) are those of the density itself.
#include "search/smoothed_histogram.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>

#include "search/smoothed_panels.hpp"

namespace fewbit::solver {
namespace {

constexpr int kPointsPerStretch = 8;
constexpr int kPointsPerBin = 8;
constexpr double kMostCells = 1 << 19;

using Points = std::vector<MassPoint>;

// The part of the density that lies in [lo, hi], on the stretch's own scale [-1, 1].
Points discretise(const std::vector<double>& edges, const std::vector<double>& masses, double lo,
                  double hi) {
  static const GaussRule rule = gauss_legendre(kPointsPerBin);
  Points points;
  const auto first = std::upper_bound(edges.begin(), edges.end(), lo) - edges.begin();
  for (size_t bin = first > 0 ? static_cast<size_t>(first) - 1 : 0; bin < masses.size(); ++bin) {
    if (edges[bin] >= hi) break;
    const double left = std::max(lo, edges[bin]);
    const double right = std::min(hi, edges[bin + 1]);
    const double mass = masses[bin] * (right - left) / (edges[bin + 1] - edges[bin]);
    if (right <= left || mass <= 0.0) continue;
    for (size_t i = 0; i < rule.nodes.size(); ++i) {
      const double x = 0.5 * (left + right) + 0.5 * (right - left) * rule.nodes[i];
      points.push_back({(2.0 * x - lo - hi) / (hi - lo), 0.5 * mass * rule.weights[i]});
    }
  }
  return points;
}

double mass_of(const Points& points) {
  double sum = 0.0;
  for (const MassPoint& point : points) sum += point.mass;
  return sum;
}

struct Recurrence {
  std::vector<double> alpha;
  std::vector<double> beta;  ///< beta[n] couples n and n + 1
};

Recurrence stieltjes(const Points& points) {
  Recurrence result;
  std::vector<double> previous(points.size(), 0.0);
  std::vector<double> current(points.size(), 1.0);
  double norm = mass_of(points);
  double beta = 0.0;
  for (int n = 0; n < kPointsPerStretch; ++n) {
    double moment = 0.0;
    for (size_t i = 0; i < points.size(); ++i) {
      moment += points[i].mass * points[i].position * current[i] * current[i];
    }
    result.alpha.push_back(moment / norm);
    double next_norm = 0.0;
    for (size_t i = 0; i < points.size(); ++i) {
      const double next =
          (points[i].position - result.alpha.back()) * current[i] - beta * previous[i];
      previous[i] = current[i];
      current[i] = next;
      next_norm += points[i].mass * next * next;
    }
    beta = next_norm / norm;
    // A density no wider than rounding needs no more points.
    if (beta < 1e-20) break;
    if (n + 1 < kPointsPerStretch) result.beta.push_back(beta);
    norm = next_norm;
  }
  return result;
}

Points gauss_rule_of(const Points& points) {
  const Recurrence recurrence = stieltjes(points);
  const auto n = static_cast<Eigen::Index>(recurrence.alpha.size());
  Eigen::MatrixXd jacobi = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i) jacobi(i, i) = recurrence.alpha[static_cast<size_t>(i)];
  for (Eigen::Index i = 0; i + 1 < n; ++i) {
    jacobi(i, i + 1) = jacobi(i + 1, i) = std::sqrt(recurrence.beta[static_cast<size_t>(i)]);
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(jacobi);
  const double mass = mass_of(points);
  Points result;
  for (Eigen::Index i = 0; i < n; ++i) {
    const double share = solver.eigenvectors()(0, i);
    result.push_back({solver.eigenvalues()(i), mass * share * share});
  }
  return result;
}

}  // namespace

std::vector<MassPoint> gauss_points(const std::vector<double>& edges,
                                    const std::vector<double>& masses, double scale) {
  const double lo = edges.front();
  const double length = edges.back() - lo;
  const int count = static_cast<int>(std::clamp(std::ceil(length / scale), 1.0, kMostCells));
  std::vector<MassPoint> result;
  for (int i = 0; i < count; ++i) {
    const double left = lo + length * i / count;
    const double right = i + 1 == count ? edges.back() : lo + length * (i + 1) / count;
    const Points points = discretise(edges, masses, left, right);
    if (points.empty()) continue;
    for (const MassPoint& point : gauss_rule_of(points)) {
      const double x = 0.5 * (left + right) + 0.5 * (right - left) * point.position;
      result.push_back({x, point.mass});
    }
  }
  return result;
}

}  // namespace fewbit::solver

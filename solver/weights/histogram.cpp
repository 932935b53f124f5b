#include "weights/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "weights/densities.hpp"
#include "weights/edge_index.hpp"

namespace fewbit::solver {

namespace {

/// Neumaier's sum: a million bins lose no more than the last digit.
double total_of(const std::vector<double>& masses) {
  double sum = 0.0;
  double lost = 0.0;
  for (const double mass : masses) {
    const double next = sum + mass;
    lost += std::fabs(sum) >= std::fabs(mass) ? (sum - next) + mass : (mass - next) + sum;
    sum = next;
  }
  return sum + lost;
}

class Histogram final : public Weight {
 public:
  Histogram(std::vector<double> edges, const std::vector<double>& masses)
      : index_(std::move(edges)), densities_(masses.size()) {
    for (size_t i = 0; i < masses.size(); ++i) densities_[i] = masses[i] / width(i);
  }

  double density(double x) const override {
    const Domain ends = support();
    return x >= ends.lo && x <= ends.hi ? densities_[index_.bin_of(x)] : 0.0;
  }

  double density_between(double lo, double hi) const override {
    const Domain ends = support();
    if (hi <= ends.lo || lo >= ends.hi) return 0.0;
    return densities_[index_.bin_of(std::min(hi, ends.hi))];
  }

  double largest_within(double lo, double hi, double) const override {
    return density_between(lo, hi);
  }

  Domain support() const override { return {index_.edges().front(), index_.edges().back()}; }

  std::vector<double> breaks() const override {
    std::vector<double> points;
    for (size_t i = 1; i < densities_.size(); ++i) {
      if (densities_[i] != densities_[i - 1]) points.push_back(index_.edges()[i]);
    }
    return points;
  }

  /// The mean width of the bins between the quartiles: single bins may be as narrow as doubles
  /// allow, around a number that is repeated, or as wide as the way to an outlier.
  double scale() const override {
    size_t first = 0;
    size_t last = densities_.size();
    double below = 0.0;
    double above = 0.0;
    while ((below += densities_[first] * width(first)) < 0.25) ++first;
    while ((above += densities_[last - 1] * width(last - 1)) < 0.25) --last;
    const auto& edges = index_.edges();
    if (last - first < 2)
      return (edges.back() - edges.front()) / static_cast<double>(densities_.size());
    return (edges[last] - edges[first]) / static_cast<double>(last - first);
  }

  bool is_even() const override {
    const auto& edges = index_.edges();
    return std::equal(edges.begin(), edges.end(), edges.rbegin(),
                      [](double a, double b) { return a == -b; }) &&
           std::equal(densities_.begin(), densities_.end(), densities_.rbegin());
  }

  bool is_piecewise_constant() const override { return true; }
  bool is_integrable() const override { return true; }

 private:
  double width(size_t bin) const { return index_.edges()[bin + 1] - index_.edges()[bin]; }

  EdgeIndex index_;
  std::vector<double> densities_;
};

}  // namespace

void check_histogram(const std::vector<double>& edges, const std::vector<double>& masses,
                     const std::string& file) {
  const auto fail = [&](const std::string& message) { throw Error("histogram: " + message, file); };
  if (masses.empty()) fail("has no bins");
  if (masses.size() > kMaxBins) {
    fail(std::to_string(masses.size()) + " bins, at most " + std::to_string(kMaxBins) +
         " accepted");
  }
  if (edges.size() != masses.size() + 1) {
    fail(std::to_string(masses.size()) + " masses need " + std::to_string(masses.size() + 1) +
         " edges, got " + std::to_string(edges.size()));
  }
  for (const double edge : edges) {
    if (!(std::fabs(edge) <= kLargestInput)) {
      fail("edge " + shortest(edge) + " is not a number within +-1e+100");
    }
  }
  for (size_t i = 0; i < masses.size(); ++i) {
    if (!(edges[i + 1] - edges[i] >= 1.0 / kLargestInput)) {
      fail("edges must ascend: " + shortest(edges[i]) + " is followed by " +
           shortest(edges[i + 1]));
    }
    if (!(masses[i] >= 0.0 && masses[i] <= kLargestInput)) {
      fail("mass " + shortest(masses[i]) + " of bin " + std::to_string(i + 1) +
           " is not a number from 0 to 1e+100");
    }
  }
  if (!(total_of(masses) >= 1.0 / kLargestInput)) fail("the total is zero");
}

void tidy_histogram(std::vector<double>& edges, std::vector<double>& masses) {
  const double total = total_of(masses);
  std::vector<double> kept_edges;
  std::vector<double> kept_masses;
  for (size_t i = 0; i < masses.size(); ++i) {
    const double mass = masses[i] / total;
    if (mass == 0.0 && (kept_masses.empty() || kept_masses.back() == 0.0)) continue;
    kept_edges.push_back(edges[i]);
    kept_masses.push_back(mass);
  }
  if (!kept_masses.empty() && kept_masses.back() == 0.0) {
    kept_masses.pop_back();
  } else {
    kept_edges.push_back(edges.back());
  }
  edges = std::move(kept_edges);
  masses = std::move(kept_masses);
}

std::unique_ptr<Weight> make_histogram(std::vector<double> edges, std::vector<double> masses) {
  tidy_histogram(edges, masses);
  return std::make_unique<Histogram>(std::move(edges), masses);
}

}  // namespace fewbit::solver

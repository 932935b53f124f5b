#pragma once

#include <cstddef>
#include <vector>

namespace fewbit::solver {

/// Inputs that no table tells apart: their mass, the mean of f' and the sum of squares about it.
struct Cluster {
  double mass;
  double mean;
  double squares = 0.0;
};

/// What each run [i, j) of n items costs in itself. Costs are sums of positive terms, so each is
/// right to a few units in its last place however small it is.
class RunCosts {
 public:
  /// The sum of squares about the mean of the run.
  static RunCosts of_variance(const std::vector<Cluster>& clusters);

  /// Items are the gaps between neighbouring values: the run [i, j) has the levels of cluster i and
  /// of cluster j at its ends and costs the variance of rounding what lies between to one of them.
  static RunCosts of_rounding(const std::vector<Cluster>& clusters);

  size_t size() const { return size_; }
  double operator()(size_t i, size_t j) const { return costs_[j * (j - 1) / 2 + i]; }

 private:
  explicit RunCosts(size_t size) : size_(size), costs_(size * (size + 1) / 2) {}
  void set(size_t i, size_t j, long double cost) {
    costs_[j * (j - 1) / 2 + i] = static_cast<double>(cost);
  }

  size_t size_;
  std::vector<double> costs_;
};

struct Runs {
  std::vector<size_t>
      ends;  ///< where each run ends, ascending; the last one is the number of items
  double cost;
};

/// The cheapest way to cut all items into `count` runs, at least one item each: the dynamic program
/// of Few-Bit Backward, equation 7, over single items. Every cost has to grow with its run.
Runs cheapest_runs(const RunCosts& costs, size_t count);

}  // namespace fewbit::solver

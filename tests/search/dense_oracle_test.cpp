#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "functions/registry.hpp"
#include "search/search_table.hpp"

namespace fewbit::solver::dense_oracle_test {
struct Point {
  double value;
  double mass;
};

/// Plain quadratic-time k-segmentation of points in the given order: the slow reference.
double best_segmentation(const std::vector<Point>& points, int k) {
  const size_t n = points.size();
  std::vector<double> mass(n + 1);
  std::vector<double> first(n + 1);
  std::vector<double> second(n + 1);
  for (size_t i = 0; i < n; ++i) {
    mass[i + 1] = mass[i] + points[i].mass;
    first[i + 1] = first[i] + points[i].mass * points[i].value;
    second[i + 1] = second[i] + points[i].mass * points[i].value * points[i].value;
  }
  std::vector<double> best(n + 1, INFINITY);
  best[0] = 0.0;
  for (int round = 0; round < k; ++round) {
    std::vector<double> next(n + 1, INFINITY);
    next[0] = 0.0;
    for (size_t i = 1; i <= n; ++i) {
      for (size_t j = 0; j < i; ++j) {
        const double m = mass[i] - mass[j];
        const double f = first[i] - first[j];
        next[i] = std::min(next[i], best[j] + second[i] - second[j] - f * f / m);
      }
    }
    best = next;
  }
  return best[n];
}

std::vector<Point> sample_points(const std::string& function, const Weight& weight, size_t count) {
  const Derivative derivative(expression_of(parse_function(function)), -10.0, 10.0);
  std::vector<Point> points;
  const double step = 20.0 / static_cast<double>(count);
  for (size_t i = 0; i < count; ++i) {
    const double x = -10.0 + step * (static_cast<double>(i) + 0.5);
    points.push_back({derivative.value(x), step * weight.density(x)});
  }
  return points;
}

TEST(DenseOracle, LevelsAgreeWithKMeansOfManySamples) {
  for (const char* function : {"gelu", "selu", "mish", "tanhshrink", "hardswish"}) {
    for (const int k : {2, 3, 5, 8}) {
      Problem problem;
      problem.function = parse_function(function);
      problem.levels = k;
      auto points = sample_points(function, *make_weight({}), 1500);
      std::sort(points.begin(), points.end(),
                [](const Point& a, const Point& b) { return a.value < b.value; });
      const double dense = best_segmentation(points, k);
      EXPECT_NEAR(search_table(problem).error, dense, 2e-3 * dense + 2e-5) << function << " " << k;
    }
  }
}

TEST(DenseOracle, IntervalsAgreeWithTheProgramOnManySamples) {
  for (const char* function : {"gelu", "selu", "mish", "softplus", "elu:alpha=0.5"}) {
    for (const int k : {2, 3, 5, 8}) {
      Problem problem;
      problem.function = parse_function(function);
      problem.form = Form::intervals;
      problem.levels = k;
      const auto points = sample_points(function, *make_weight({}), 1500);
      const double dense = best_segmentation(points, k);
      EXPECT_NEAR(search_table(problem).error, dense, 2e-3 * dense + 2e-5) << function << " " << k;
    }
  }
}
}  // namespace fewbit::solver::dense_oracle_test

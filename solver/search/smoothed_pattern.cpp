#include "search/smoothed_pattern.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace fewbit::solver {
namespace {

void join_equal_neighbours(StepFunction& step) {
  for (size_t i = 0; i < step.thresholds.size();) {
    if (step.codes[i] == step.codes[i + 1]) {
      step.thresholds.erase(step.thresholds.begin() + static_cast<std::ptrdiff_t>(i));
      step.codes.erase(step.codes.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void drop_unused_levels(StepFunction& step) {
  std::vector<int> renamed(step.levels.size(), -1);
  for (const int code : step.codes) renamed[static_cast<size_t>(code)] = 0;
  std::vector<double> levels;
  for (size_t a = 0; a < step.levels.size(); ++a) {
    if (renamed[a] < 0) continue;
    renamed[a] = static_cast<int>(levels.size());
    levels.push_back(step.levels[a]);
  }
  for (int& code : step.codes) code = renamed[static_cast<size_t>(code)];
  step.levels = std::move(levels);
}

}  // namespace

void remove_interval(StepFunction& step, size_t interval) {
  auto& thresholds = step.thresholds;
  const auto at = static_cast<std::ptrdiff_t>(interval);
  if (interval == 0) {
    thresholds.erase(thresholds.begin());
  } else if (interval == thresholds.size()) {
    thresholds.pop_back();
  } else {
    thresholds[interval - 1] = 0.5 * (thresholds[interval - 1] + thresholds[interval]);
    thresholds.erase(thresholds.begin() + at);
  }
  step.codes.erase(step.codes.begin() + at);
  join_equal_neighbours(step);
  drop_unused_levels(step);
}

void remove_even_interval(StepFunction& step, size_t interval) {
  const size_t mirror = step.thresholds.size() - interval;
  remove_interval(step, std::max(interval, mirror));
  if (mirror != interval) remove_interval(step, std::min(interval, mirror));
  make_even(step);
}

void make_canonical(StepFunction& step) {
  drop_unused_levels(step);
  std::vector<size_t> order(step.levels.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return step.levels[a] < step.levels[b]; });
  std::vector<int> renamed(order.size());
  std::vector<double> levels;
  for (const size_t a : order) {
    if (levels.empty() || step.levels[a] > levels.back()) levels.push_back(step.levels[a]);
    renamed[a] = static_cast<int>(levels.size()) - 1;
  }
  for (int& code : step.codes) code = renamed[static_cast<size_t>(code)];
  step.levels = std::move(levels);
  join_equal_neighbours(step);
}

bool is_even(const StepFunction& step, double tolerance) {
  const size_t count = step.thresholds.size();
  for (size_t i = 0; i < count; ++i) {
    if (std::abs(step.thresholds[i] + step.thresholds[count - 1 - i]) > tolerance) return false;
    if (step.codes[i] != step.codes[count - i]) return false;
  }
  return true;
}

void make_even(StepFunction& step) {
  const size_t count = step.thresholds.size();
  for (size_t i = 0; i < count / 2; ++i) {
    const double half = 0.5 * (step.thresholds[count - 1 - i] - step.thresholds[i]);
    step.thresholds[i] = -half;
    step.thresholds[count - 1 - i] = half;
  }
  if (count % 2 == 1) step.thresholds[count / 2] = 0.0;
}

}  // namespace fewbit::solver

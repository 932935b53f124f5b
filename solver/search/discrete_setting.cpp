#include "search/discrete_setting.hpp"

#include <algorithm>
#include <cmath>

#include "expression/evenness.hpp"
#include "expression/left_side.hpp"
#include "functions/registry.hpp"
#include "weights/discrete.hpp"

namespace fewbit::solver {

namespace {

/// Of sums of positive terms in long double.
constexpr double kSumRounding = 4e-15;

}  // namespace

DiscreteSetting::DiscreteSetting(const Problem& problem) : coding_(problem.form == Form::unbiased) {
  const Expression expression = expression_of(problem.function);
  const DiscreteWeight weight = discrete_weight(problem.weight, problem.domain);
  const auto [lo, hi] = weight.domain;
  plain_ = derivative_with_left_side(expression, lo, hi);
  double squares = 0.0;
  for (const auto& [x, mass] : weight.points) {
    const size_t piece = plain_->piece_of(x);
    points_.push_back({x, mass, plain_->value(x, piece)});
    const Interval bounds = plain_->bounds(x, x, piece);
    const double width = bounds.upper() - bounds.lower();
    squares += mass * width * width;
  }
  noise_ = std::sqrt(squares);
  if (lo < 0.0 && hi > 0.0 && is_even(expression, std::max(-lo, hi))) fold(expression);
  const auto [least, most] = std::minmax_element(
      points_.begin(), points_.end(),
      [](const DiscretePoint& a, const DiscretePoint& b) { return a.value < b.value; });
  range_ = most->value - least->value;
  coding_noise_ = noise_ * std::sqrt(weight.mass()) * range_;
}

/// What f'(x) and f'(-x) differ by in rounding alone would count as two values.
void DiscreteSetting::fold(const Expression& expression) {
  even_ = std::make_unique<Derivative>(expression, 0.0, std::max(-plain_->lo(), plain_->hi()));
  const double size = std::max(std::fabs(even_->min_value()), std::fabs(even_->max_value()));
  for (DiscretePoint& point : points_) {
    const double mirrored = even_->value(std::fabs(point.x));
    if (std::fabs(point.value - mirrored) <= kEvenness * size) point.value = mirrored;
  }
}

double DiscreteSetting::above(double computed) const {
  if (computed == 0.0) return 0.0;  // q is f' as it is computed, wherever there is mass
  if (coding_) return computed * (1.0 + kSumRounding) + coding_noise_;
  const double root = std::sqrt(computed * (1.0 + kSumRounding)) + noise_;
  return root * root;
}

double DiscreteSetting::below(double computed) const {
  if (coding_) return std::max(0.0, computed * (1.0 - kSumRounding) - coding_noise_);
  const double root = std::sqrt(computed * (1.0 - kSumRounding)) - noise_;
  return root > 0.0 ? root * root : 0.0;
}

}  // namespace fewbit::solver

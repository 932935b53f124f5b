#include "verify/axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "expression/evenness.hpp"
#include "verify/gauss.hpp"

namespace fewbit::solver {

namespace {
constexpr size_t kMostPanels = 1 << 18;
}  // namespace

AxisMoments& AxisMoments::operator+=(const AxisMoments& other) {
  mass += other.mass;
  first += other.first;
  second += other.second;
  return *this;
}

AxisMoments AxisMoments::operator-(const AxisMoments& other) const {
  return {mass - other.mass, first - other.first, second - other.second};
}

Domain finite_domain(const Problem& problem, const Weight& weight) {
  const Domain support = weight.support();
  Domain domain = problem.domain;
  if (!std::isfinite(domain.lo)) domain.lo = support.lo;
  if (!std::isfinite(domain.hi)) domain.hi = support.hi;
  if (!std::isfinite(domain.lo) || !std::isfinite(domain.hi) || !(domain.lo < domain.hi)) {
    throw Error("the weight has no finite mass on the domain", {}, "domain");
  }
  return domain;
}

InputAxis::InputAxis(const Problem& problem, bool folded)
    : weight_(make_weight(problem.weight)),
      function_(Expression::parse(problem.function.expression, problem.function.parameters)),
      domain_(finite_domain(problem, *weight_)),
      folded_(folded),
      may_be_far_(problem.form != Form::unbiased && !weight_->is_piecewise_constant()) {
  const double reach = std::max(std::fabs(domain_.lo), std::fabs(domain_.hi));
  derivative_ = folded ? std::make_unique<Derivative>(function_, 0.0, reach)
                       : std::make_unique<Derivative>(function_, domain_.lo, domain_.hi);
  lay_panels();
}

bool InputAxis::has_even_derivative() const {
  return is_even(function_, std::max(std::fabs(domain_.lo), std::fabs(domain_.hi)));
}

double InputAxis::density(double x) const {
  double density = x >= domain_.lo && x <= domain_.hi ? weight_->density(x) : 0.0;
  if (folded_ && -x >= domain_.lo && -x <= domain_.hi) density += weight_->density(-x);
  return density;
}

double InputAxis::density_between(double a, double b) const {
  const auto one_side = [this](double lo, double hi) {
    const bool outside = hi <= domain_.lo || lo >= domain_.hi;
    return outside ? 0.0 : weight_->density_between(lo, hi);
  };
  return one_side(a, b) + (folded_ ? one_side(-b, -a) : 0.0);
}

AxisMoments InputAxis::panel_integral(double a, double b, size_t piece, double center) const {
  const GaussNodes& rule = gauss_rule();
  std::array<double, GaussNodes::kNodes> x;
  std::array<double, GaussNodes::kNodes> value;
  const double middle = a + (b - a) / 2;
  const double half = (b - a) / 2;
  for (size_t i = 0; i < x.size(); ++i) x[i] = middle + half * rule.nodes[i];
  derivative_->evaluate(x, piece, value);
  // Of a bin that holds few doubles the nodes may be the neighbours' as well as its own.
  const bool plain = weight_->is_piecewise_constant();
  const double constant = plain ? density_between(a, b) : 0.0;
  AxisMoments sum;
  for (size_t i = 0; i < x.size(); ++i) {
    const double mass = half * rule.weights[i] * (plain ? constant : density(x[i]));
    const double v = value[i] - center;
    sum.mass += mass;
    sum.first += mass * v;
    sum.second += mass * v * v;
  }
  return sum;
}

/// What a computed f' may be off by, and a computed x move it by.
double InputAxis::rounding_at(double x, size_t piece) const {
  const Interval value = derivative_->bounds(x, x, piece);
  return value.upper() - value.lower() + 4e-16 * std::fabs(x * derivative_->slope(x, piece));
}

bool InputAxis::agree(const Panel& panel, const AxisMoments& whole,
                      const AxisMoments& halves) const {
  double tolerance = 1e-16 * scale_ + 4e-15 * whole.mass;
  double reach = span_;
  double noise = 4e-16 * size_;
  if (far_) {
    // Nodes know the density no better than their places.
    const double places = std::max(std::fabs(lo()), std::fabs(hi())) / weight_->scale();
    tolerance = (4e-15 + 2e-15 * places) * whole.mass;
    reach = deviation_;
    if (whole.mass > 0.0) reach = std::max(reach, std::sqrt(whole.second / whole.mass));
    noise = rounding_at(panel.lo + (panel.hi - panel.lo) / 2, panel.piece);
    if (whole.mass * reach * reach <= 1e-18 * scale_ * deviation_ * deviation_) return true;
  }
  const double rounding = noise * whole.mass;
  return std::fabs(halves.mass - whole.mass) <= tolerance &&
         std::fabs(halves.first - whole.first) <= tolerance * reach + rounding &&
         std::fabs(halves.second - whole.second) <= (tolerance * reach + rounding) * reach;
}

double InputAxis::hidden(double share) const {
  if (!far_) return (share + displacement_) * largest();
  return 32.0 * share * total_.second;
}

void InputAxis::halve(const Panel& panel, const AxisMoments& whole, int depth) {
  const auto [a, b, piece, unused] = panel;
  const double middle = a + (b - a) / 2;
  const AxisMoments left = panel_integral(a, middle, piece, center_);
  const AxisMoments right = panel_integral(middle, b, piece, center_);
  AxisMoments halves = left;
  halves += right;
  if (agree(panel, whole, halves) || depth > 14 || panels_.size() > kMostPanels ||
      !(a < middle && middle < b)) {
    panels_.push_back({a, middle, piece, left});
    panels_.push_back({middle, b, piece, right});
    return;
  }
  halve({a, middle, piece, {}}, left, depth + 1);
  halve({middle, b, piece, {}}, right, depth + 1);
}

bool InputAxis::weight_touches(double a, double b) const {
  const Domain support = weight_->support();
  return (a < support.hi && b > support.lo) || (folded_ && -b < support.hi && -a > support.lo);
}

std::vector<double> InputAxis::cuts() const {
  const Domain support = weight_->support();
  std::vector<double> cuts = weight_->breaks();
  for (const double end : {support.lo, support.hi, domain_.lo, domain_.hi}) cuts.push_back(end);
  if (folded_) {
    const size_t count = cuts.size();
    for (size_t i = 0; i < count; ++i) cuts.push_back(-cuts[i]);
  }
  for (const Branch& branch : derivative_->branches()) cuts.push_back(branch.lo);
  cuts.insert(cuts.end(), {0.0, hi()});
  std::erase_if(cuts, [&](double x) { return !(x >= lo() && x <= hi()); });
  std::sort(cuts.begin(), cuts.end());
  add_stretches(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

// However small a feature is, there are nodes within it then: comparing a panel with its halves
// sees only what one of them has a node near. A bin around a single number is left whole: the nodes
// of its parts could not be told from each other.
void InputAxis::add_stretches(std::vector<double>& cuts) const {
  constexpr double kClose = 1e-12;
  const size_t count = cuts.size();
  for (const Stretch& stretch : derivative_->stretches()) {
    const double close = kClose * std::fabs(stretch.lo);
    const auto end = cuts.begin() + static_cast<std::ptrdiff_t>(count);
    const auto next = std::lower_bound(cuts.begin(), end, stretch.lo - close);
    if (next == end || *next > stretch.lo + close) cuts.push_back(stretch.lo);
  }
  std::sort(cuts.begin(), cuts.end());
}

// A density changes over its scale in the middle, and over its distance from there in long tails.
double InputAxis::longest_panel(double a, double b) const {
  const Domain support = weight_->support();
  const double middle = support.lo + (support.hi - support.lo) / 2;
  if (weight_->is_piecewise_constant() || !std::isfinite(middle)) return HUGE_VAL;
  const auto distance = [a, b](double place) { return std::max({0.0, a - place, place - b}); };
  const double away = std::min(distance(middle), folded_ ? distance(-middle) : HUGE_VAL);
  return std::max(2.0 * weight_->scale(), away / 2);
}

void InputAxis::lay_coarsely(double a, double b, size_t piece, std::vector<Panel>& coarse) {
  const double middle = a + (b - a) / 2;
  const bool fine = b - a <= longest_panel(a, b) || !weight_touches(a, b);
  if (fine || !(a < middle && middle < b) || coarse.size() > kMostPanels) {
    coarse.push_back({a, b, piece, panel_integral(a, b, piece, center_)});
    return;
  }
  lay_coarsely(a, middle, piece, coarse);
  lay_coarsely(middle, b, piece, coarse);
}

void InputAxis::lay_panels() {
  span_ = derivative_->max_value() - derivative_->min_value();
  size_ = std::max(std::fabs(derivative_->max_value()), std::fabs(derivative_->min_value()));
  center_ = (derivative_->max_value() + derivative_->min_value()) / 2;
  const std::vector<double> ends = cuts();
  std::vector<Panel> coarse;
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    const size_t piece = derivative_->piece_of(ends[i] + (ends[i + 1] - ends[i]) / 2);
    lay_coarsely(ends[i], ends[i + 1], piece, coarse);
  }
  for (const Panel& panel : coarse) scale_ += panel.before.mass;
  center_coarsely(coarse);
  for (const Panel& panel : coarse) halve(panel, panel.before, 0);
  center_moments();
}

void InputAxis::center_coarsely(std::vector<Panel>& coarse) {
  AxisMoments total;
  for (const Panel& panel : coarse) total += panel.before;
  if (!may_be_far_ || !(total.mass > 0.0)) return;
  const double mean = center_ + total.first / total.mass;
  double second = 0.0;
  for (const Panel& panel : coarse) {
    second += panel_integral(panel.lo, panel.hi, panel.piece, mean).second;
  }
  constexpr double kFar = 1e4;
  far_ = total.mass * span_ * span_ > kFar * second;
  if (!far_) return;
  center_ = mean;
  deviation_ = std::sqrt(second / total.mass);
  for (Panel& panel : coarse) {
    panel.before = panel_integral(panel.lo, panel.hi, panel.piece, center_);
  }
}

// Once more about the mean, where differences of prefix sums cancel least.
void InputAxis::center_moments() {
  for (const Panel& panel : panels_) total_ += panel.before;
  if (total_.mass > 0.0) center_ += total_.first / total_.mass;
  total_ = {};
  double squares = 0.0;
  double moved = 0.0;
  for (Panel& panel : panels_) {
    panel.before = total_;
    moved += mass_moved(panel);
    const AxisMoments here = panel_integral(panel.lo, panel.hi, panel.piece, center_);
    total_ += here;
    const double middle = panel.lo + (panel.hi - panel.lo) / 2;
    const double width = rounding_at(middle, panel.piece) + (folded_ ? kEvenness * size_ : 0.0);
    squares += here.mass * width * width;
  }
  noise_ = std::sqrt(squares);
  if (total_.mass > 0.0) displacement_ = moved / total_.mass;
}

// Nodes stand in for places half an ulp away at most; so do the ends of a panel.
double InputAxis::mass_moved(const Panel& panel) const {
  const double width = panel.hi - panel.lo;
  const double change = density(panel.hi - 0.01 * width) - density(panel.lo + 0.01 * width);
  return 4e-16 * std::max(std::fabs(panel.lo), std::fabs(panel.hi)) * std::fabs(change);
}

AxisMoments InputAxis::upto(double x) const {
  if (x <= lo()) return {};
  if (x >= hi()) return total_;
  const auto after = std::upper_bound(panels_.begin(), panels_.end(), x,
                                      [](double at, const Panel& panel) { return at < panel.lo; });
  const Panel& panel = *std::prev(after);
  AxisMoments sum = panel.before;
  if (x > panel.lo) sum += panel_integral(panel.lo, x, panel.piece, center_);
  return sum;
}

double InputAxis::integrate_between(double a, double b, double left, double right) const {
  const GaussNodes& rule = gauss_rule();
  double sum = 0.0;
  auto panel = std::upper_bound(panels_.begin(), panels_.end(), a,
                                [](double at, const Panel& p) { return at < p.hi; });
  for (; panel != panels_.end() && panel->lo < b; ++panel) {
    const double from = std::max(a, panel->lo);
    const double to = std::min(b, panel->hi);
    const double half = (to - from) / 2;
    const bool plain = weight_->is_piecewise_constant() && half > 0.0;
    const double constant = plain ? density_between(from, to) : 0.0;
    for (size_t i = 0; half > 0.0 && i < GaussNodes::kNodes; ++i) {
      const double x = from + half * (1.0 + rule.nodes[i]);
      const double v = derivative_->value(x, panel->piece);
      const double mass = half * rule.weights[i] * (plain ? constant : density(x));
      sum += mass * std::max(0.0, (v - left) * (right - v));
    }
  }
  return sum;
}

AxisMoments InputAxis::integrate(double a, double b, double center) const {
  AxisMoments sum;
  auto panel = std::upper_bound(panels_.begin(), panels_.end(), a,
                                [](double at, const Panel& p) { return at < p.hi; });
  for (; panel != panels_.end() && panel->lo < b; ++panel) {
    const double from = std::max(a, panel->lo);
    const double to = std::min(b, panel->hi);
    if (from < to) sum += panel_integral(from, to, panel->piece, center);
  }
  return sum;
}

std::pair<double, double> InputAxis::range(double a, double b) const {
  const auto& branches = derivative_->branches();
  auto branch = std::upper_bound(branches.begin(), branches.end(), a,
                                 [](double at, const Branch& other) { return at < other.hi; });
  if (branch == branches.end()) --branch;
  double smallest = HUGE_VAL;
  double largest = -HUGE_VAL;
  for (; branch != branches.end() && (branch->lo < b || smallest > largest); ++branch) {
    const double from = a <= branch->lo ? branch->value_lo : derivative_->value(a, branch->piece);
    const double to = b >= branch->hi ? branch->value_hi : derivative_->value(b, branch->piece);
    smallest = std::min({smallest, from, to});
    largest = std::max({largest, from, to});
  }
  return {smallest, largest};
}

}  // namespace fewbit::solver

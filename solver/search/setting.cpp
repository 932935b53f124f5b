#include "search/setting.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"
#include "expression/evenness.hpp"
#include "functions/registry.hpp"

namespace fewbit::solver {

namespace {

/// A weight without its part outside of a domain.
class ClippedWeight : public Weight {
 public:
  ClippedWeight(std::shared_ptr<const Weight> weight, Domain domain)
      : weight_(std::move(weight)), domain_(domain) {}

  double density(double x) const override {
    return x < domain_.lo || x > domain_.hi ? 0.0 : weight_->density(x);
  }
  double density_between(double lo, double hi) const override {
    return hi <= domain_.lo || lo >= domain_.hi ? 0.0 : weight_->density_between(lo, hi);
  }
  double largest_within(double lo, double hi, double radius) const override {
    const double middle = 0.5 * (lo + hi);
    const bool outside = middle < domain_.lo || middle > domain_.hi;
    return outside ? 0.0 : weight_->largest_within(lo, hi, radius);
  }
  Domain support() const override { return domain_; }
  std::vector<double> breaks() const override {
    std::vector<double> breaks = weight_->breaks();
    breaks.push_back(domain_.lo);
    breaks.push_back(domain_.hi);
    std::erase_if(breaks, [this](double x) { return x < domain_.lo || x > domain_.hi; });
    std::sort(breaks.begin(), breaks.end());
    return breaks;
  }
  double scale() const override { return weight_->scale(); }
  bool is_even() const override { return weight_->is_even() && domain_.lo == -domain_.hi; }
  bool is_piecewise_constant() const override { return weight_->is_piecewise_constant(); }
  bool is_integrable() const override { return true; }

 private:
  std::shared_ptr<const Weight> weight_;
  Domain domain_;
};

/// Less is nothing that a double could measure errors by.
constexpr double kLeastMass = 1e-200;

/// An infinite domain ends where less than 1e-20 of the whole mass is left.
constexpr double kLeastOpenMass = 1e-8;

bool is_infinite(const Domain& domain) {
  return std::isinf(domain.lo) || std::isinf(domain.hi);
}

const char* where_mass_is(const Domain& domain) {
  return is_infinite(domain) ? ", where the weight has its mass" : "";
}

std::string text_of(const Domain& domain) {
  return "[" + shortest(domain.lo) + ", " + shortest(domain.hi) + "]";
}

void check_domain(const Domain& domain, const Weight& weight) {
  if (std::isnan(domain.lo) || std::isnan(domain.hi) || !(domain.lo < domain.hi)) {
    throw Error("domain: " + text_of(domain) + " is not an interval; LO must be less than HI");
  }
  if (is_infinite(domain) && !weight.is_integrable()) {
    throw Error("domain: " + text_of(domain) +
                " is infinite, which needs a weight whose mass lies within 1e100: any but uniform "
                "and student-t of a few tenths of a degree");
  }
}

}  // namespace

Domain effective_domain(const Domain& domain, const Weight& weight) {
  check_domain(domain, weight);
  const Domain support = weight.support();
  const Domain result{std::isinf(domain.lo) ? support.lo : domain.lo,
                      std::isinf(domain.hi) ? support.hi : domain.hi};
  if (!(result.lo < result.hi) || support.hi <= domain.lo || support.lo >= domain.hi) {
    throw Error("weight: has no mass in the domain " + text_of(domain) +
                " (its support, all but 1e-20 of it, is " + text_of(support) + ")");
  }
  return result;
}

bool Setting::can_fold(const FunctionSpec& function, const WeightSpec& weight,
                       const Domain& domain) {
  const Domain finite = effective_domain(domain, *make_weight(weight));
  if (!(finite.lo < 0.0 && finite.hi > 0.0)) return false;
  return is_even(expression_of(function), std::max(-finite.lo, finite.hi));
}

Setting::Setting(const FunctionSpec& function, const WeightSpec& weight, const Domain& domain,
                 bool folded)
    : folded_(folded), expression_(std::make_unique<Expression>(expression_of(function))) {
  std::shared_ptr<const Weight> plain = make_weight(weight);
  const Domain finite = effective_domain(domain, *plain);
  if (folded) {
    const double end = std::max(-finite.lo, finite.hi);
    derivative_ = std::make_unique<Derivative>(*expression_, 0.0, end);
    const bool whole = finite.lo == -end && finite.hi == end;
    weight_ = fold_weight(whole ? plain : std::make_shared<ClippedWeight>(plain, finite));
  } else {
    derivative_ = std::make_unique<Derivative>(*expression_, finite.lo, finite.hi);
    weight_ = std::move(plain);
  }
  const double largest =
      std::max(std::abs(derivative_->min_value()), std::abs(derivative_->max_value()));
  if (!(range() > 1e-14 * largest)) {
    throw Error("the derivative of " + function.name + " is constant to 14 digits (" +
                shortest(derivative_->max_value()) + ") on " + text_of(finite) +
                where_mass_is(domain) + ": there is nothing to store");
  }
  integral_ =
      std::make_unique<PrefixIntegral>(*derivative_, *weight_, folded ? kEvenness * largest : 0.0);
  const double mass = integral_->total().mass;
  if (!(mass >= kLeastMass)) {
    throw Error("weight: has no mass in the domain " + text_of(domain) +
                (mass > 0.0 ? " (only " + shortest(mass) + ")" : ""));
  }
  if (is_infinite(domain) && mass < kLeastOpenMass) {
    throw Error("weight: has only " + shortest(mass) + " of its mass in the domain " +
                text_of(domain) + ", too little to tell where that ends; give finite ends");
  }
}

}  // namespace fewbit::solver

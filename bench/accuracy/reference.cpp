#include "bench/accuracy/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "expression/block.hpp"
#include "expression/evaluate.hpp"
#include "functions/registry.hpp"

namespace fewbit::bench {

namespace {

using solver::Expression;
using solver::kBlockPoints;
using solver::Piece;

constexpr double kEnd = 32.0;

const std::map<std::string, std::string>& without_cancellation() {
  // 2 * 0.7978845608028654; the series of x - tanh(x) is 2e-14 of itself off at 1/32.
  static const std::map<std::string, std::string> kTexts = {
      {"gelu_tanh", "x*sigmoid(1.5957691216057308*(x + 0.044715*x^3))"},
      {"tanhshrink",
       "where(abs(x) > 0.03125, x - tanh(x), x^3*(1/3 - x^2*(2/15 - x^2*(17/315 - x^2*62/2835))))"},
  };
  return kTexts;
}

Expression expression_of(const std::string& function) {
  solver::FunctionSpec spec = solver::parse_function(function);
  for (auto& [parameter, value] : spec.parameters) value = static_cast<float>(value);
  const auto other = without_cancellation().find(function);
  if (other != without_cancellation().end()) spec.expression = other->second;
  return solver::expression_of(spec);
}

double slope_of(const Piece& piece, double x) {
  double slope = 0.0;
  evaluate_block(piece.smooth, &x, 1, nullptr, &slope, nullptr);
  return slope;
}

}  // namespace

Reference::Reference(const std::string& function)
    : whole_(expression_of(function)), pieces_(split_at_kinks(whole_, -kEnd, kEnd)) {}

void Reference::operator()(std::span<const float> x, std::span<double> value,
                           std::span<double> slope) const {
  std::array<double, kBlockPoints> at{};
  for (size_t i = 0; i < x.size(); i += kBlockPoints) {
    const size_t count = std::min(kBlockPoints, x.size() - i);
    std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(i), count, at.begin());
    const auto ends = std::minmax_element(at.begin(), at.begin() + count);
    const auto inside = std::find_if(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
      return piece.lo < *ends.first && *ends.second < piece.hi;
    });
    if (inside != pieces_.end()) {
      evaluate_block(inside->smooth, at.data(), count, &value[i], &slope[i], nullptr);
    } else {
      for (size_t k = 0; k < count; ++k) evaluate_one(at[k], value[i + k], slope[i + k]);
    }
  }
}

void Reference::evaluate_one(double x, double& value, double& slope) const {
  value = whole_.evaluate(x);
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const Piece& piece : pieces_) {
    if (!(piece.lo <= x && x <= piece.hi)) continue;
    slope = slope_of(piece, x);
    least = std::min(least, slope);
    most = std::max(most, slope);
  }
  if (most - least > 1e-12) slope = std::numeric_limits<double>::quiet_NaN();
}

}  // namespace fewbit::bench

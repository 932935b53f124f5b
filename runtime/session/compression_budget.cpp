#include "session/compression_budget.hpp"

#include <algorithm>
#include <optional>

namespace fewbit::session {

namespace {

/// What one bit more is worth for an element; nothing where there is none to give.
std::optional<double> gain(const Demand& demand, int bits) {
  const auto next = static_cast<size_t>(bits);
  if (demand.fixed > 0 || next >= demand.error.size()) return std::nullopt;
  return demand.weight * (demand.error[next - 1] - demand.error[next]);
}

}  // namespace

std::vector<int> split_bits(const std::vector<Demand>& demands, double average) {
  std::vector<int> bits;
  double left = 0.0;
  for (const Demand& demand : demands) {
    bits.push_back(std::max(demand.fixed, 1));
    left += demand.elements * (average - bits.back()) + demand.derived * average;
  }
  std::vector<bool> is_done(demands.size(), false);
  while (true) {
    std::optional<size_t> best;
    double most = 0.0;
    for (size_t i = 0; i < demands.size(); ++i) {
      const std::optional<double> here = is_done[i] ? std::nullopt : gain(demands[i], bits[i]);
      if (!here || (best && *here <= most)) continue;
      best = i;
      most = *here;
    }
    if (!best) return bits;
    // What does not fit here may still fit where there is less of it.
    is_done[*best] = demands[*best].elements > left;
    if (is_done[*best]) continue;
    ++bits[*best];
    left -= demands[*best].elements;
  }
}

}  // namespace fewbit::session

#include "compression/allocation/budget.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

#include "compression/allocation/knapsack.hpp"

namespace fewbit::session {

namespace {

int least_bits(const Demand& demand) {
  return std::max(demand.fixed, 1);
}

/// By bits, from the least on.
Choices choices_of(const Demand& demand) {
  Choices choices;
  const int least = least_bits(demand);
  const int most = demand.fixed > 0 ? demand.fixed : static_cast<int>(demand.error.size());
  for (int bits = least; bits <= std::max(most, least); ++bits) {
    const size_t known = std::min(static_cast<size_t>(bits), demand.error.size());
    const double error = known > 0 ? demand.error[known - 1] : 0.0;
    choices.push_back({demand.elements * bits, demand.elements * demand.weight * error});
  }
  return choices;
}

}  // namespace

BitSplit split_bits(const std::vector<Demand>& demands, double average) {
  // In an order of their own.
  std::vector<size_t> order(demands.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    const auto key = [&](size_t i) {
      return std::tie(demands[i].elements, demands[i].weight, demands[i].fixed, demands[i].error);
    };
    return key(a) < key(b);
  });
  std::vector<Choices> sites;
  double elements = 0.0;
  for (const size_t i : order) {
    const Demand& demand = demands[i];
    sites.push_back(choices_of(demand));
    elements += demand.elements + demand.recomputed;
  }
  constexpr double kRounding = 1 + 1e-12;  // 2.1 bits of 10 elements are 21
  const Selection selection = select(std::move(sites), average * elements * kRounding);
  BitSplit split{std::vector<int>(demands.size()), selection.loss, selection.bound};
  for (size_t i = 0; i < order.size(); ++i) {
    split.bits[order[i]] = least_bits(demands[order[i]]) + static_cast<int>(selection.chosen[i]);
  }
  return split;
}

}  // namespace fewbit::session

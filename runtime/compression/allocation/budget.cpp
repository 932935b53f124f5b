#include "compression/allocation/budget.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "compression/allocation/knapsack.hpp"

namespace fewbit::session {

namespace {

int least_bits(const Demand& demand) {
  return std::max(demand.fixed, 1);
}

/// What a choice of the knapsack stands for.
struct Coding {
  int bits;
  int alternative;  ///< -1: none
  Choice choice;
};

/// By rising cost, but for those that lose no less than a cheaper one.
std::vector<Coding> codings_of(const Demand& demand) {
  std::vector<Coding> codings;
  const auto add_all = [&](int alternative, double more, const std::vector<double>& errors) {
    const int least = least_bits(demand);
    const int most = demand.fixed > 0 ? demand.fixed : static_cast<int>(errors.size());
    for (int bits = least; bits <= std::max(most, least); ++bits) {
      const size_t known = std::min(static_cast<size_t>(bits), errors.size());
      const double error = known > 0 ? errors[known - 1] : 0.0;
      codings.push_back(
          {bits,
           alternative,
           {demand.elements * (bits + more), demand.elements * demand.weight * error}});
    }
  };
  add_all(-1, 0.0, demand.error);
  for (size_t i = 0; i < demand.alternatives.size(); ++i) {
    const auto& [more, errors] = demand.alternatives[i];
    add_all(static_cast<int>(i), more, errors);
  }
  std::ranges::stable_sort(codings, [](const Coding& a, const Coding& b) {
    return std::tie(a.choice.cost, a.choice.loss) < std::tie(b.choice.cost, b.choice.loss);
  });
  double least = std::numeric_limits<double>::infinity();
  std::erase_if(codings, [&](const Coding& coding) {
    const bool is_dominated = coding.choice.loss >= least;
    least = std::min(least, coding.choice.loss);
    return is_dominated;
  });
  return codings;
}

}  // namespace

BitSplit split_bits(const std::vector<Demand>& demands, double average) {
  // In an order of their own.
  std::vector<size_t> order(demands.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    const auto key = [&](size_t i) {
      const Demand& demand = demands[i];
      return std::tie(demand.elements, demand.weight, demand.fixed, demand.error,
                      demand.alternatives);
    };
    return key(a) < key(b);
  });
  std::vector<std::vector<Coding>> codings;
  std::vector<Choices> sites;
  double elements = 0.0;
  for (const size_t i : order) {
    const Demand& demand = demands[i];
    Choices& choices = sites.emplace_back();
    for (const Coding& coding : codings.emplace_back(codings_of(demand))) {
      choices.push_back(coding.choice);
    }
    elements += demand.elements + demand.recomputed;
  }
  constexpr double kRounding = 1 + 1e-12;  // 2.1 bits of 10 elements are 21
  const Selection selection = select(std::move(sites), average * elements * kRounding);
  BitSplit split{std::vector<int>(demands.size()), std::vector<int>(demands.size()), selection.loss,
                 selection.bound};
  for (size_t i = 0; i < order.size(); ++i) {
    const Coding& coding = codings[i][selection.chosen[i]];
    split.bits[order[i]] = coding.bits;
    split.alternatives[order[i]] = coding.alternative;
  }
  return split;
}

}  // namespace fewbit::session

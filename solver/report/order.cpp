#include "report/order.hpp"

#include <algorithm>
#include <utility>

namespace fewbit::solver {

namespace {

double figure_of(const Table& table, Order order) {
  if (order == Order::error) return table.error;
  if (order == Order::bias) return table.smoothed_bias;
  // The distance of a smoothed table from the squared optimum is no gap in a proof.
  return table.problem.objective.smoothed ? 0.0 : table.relative_gap;
}

/// The tables of one function; without any their figure is below all others.
struct Group {
  std::vector<Result> results;
  double figure = -1.0;

  const FunctionSpec& function() const { return results.front().problem.function; }
};

std::vector<Group> groups_of(std::vector<Result> results, Order order) {
  std::vector<Group> groups;
  for (auto& result : results) {
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.function() == result.problem.function;
    });
    if (found == groups.end()) found = groups.insert(groups.end(), Group{});
    if (result.table) found->figure = std::max(found->figure, figure_of(*result.table, order));
    found->results.push_back(std::move(result));
  }
  return groups;
}

/// Both exact: then equal levels mean equal tables, but that unbiased ones keep no thresholds.
bool same_values(const Table& a, const Table& b) {
  return a.error == 0.0 && b.error == 0.0 && a.problem.function == b.problem.function &&
         a.levels == b.levels;
}

}  // namespace

const char* explain(Order order) {
  switch (order) {
    case Order::error:
      return "Functions with the largest error come first.";
    case Order::bias:
      return "Functions with the largest smoothed bias come first.";
    case Order::gap:
      return "Functions with the largest gap come first.";
    case Order::name:
      return "Functions are in the order of their names.";
    case Order::given:
      break;
  }
  return "Functions are in the order in which they were given.";
}

std::vector<Result> sorted(std::vector<Result> results, Order order) {
  auto groups = groups_of(std::move(results), order);
  std::stable_sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
    if (order == Order::given) return false;
    if (order == Order::name) return a.function().name < b.function().name;
    return a.figure > b.figure;
  });
  std::vector<Result> flat;
  for (auto& group : groups) {
    for (auto& result : group.results) flat.push_back(std::move(result));
  }
  return flat;
}

std::vector<Result> exact_once(const std::vector<Result>& results) {
  std::vector<Result> kept;
  for (const auto& result : results) {
    const bool repeated = std::any_of(kept.begin(), kept.end(), [&](const Result& other) {
      return other.table && result.table && same_values(*other.table, *result.table);
    });
    if (!repeated) kept.push_back(result);
  }
  return kept;
}

}  // namespace fewbit::solver

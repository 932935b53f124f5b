#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/names.hpp"
#include "report/regret.hpp"

namespace fewbit::solver {

namespace {

std::string range_name(const Domain& range) {
  return shortest(range.lo) + " to " + shortest(range.hi);
}

GridCell percent(double value) {
  return {fmt::format("{:.1f} %", 100.0 * value), shortest(value)};
}

/// The largest regret among those that `wanted` picks; nullptr where there is none.
template <class Wanted>
const Regret* worst(const std::vector<Regret>& regrets, const Wanted& wanted) {
  const Regret* found = nullptr;
  for (const auto& regret : regrets) {
    if (wanted(regret) && (found == nullptr || regret.value > found->value)) found = &regret;
  }
  return found;
}

GridCell worst_cell(const Regret* regret) {
  return regret ? percent(regret->value) : GridCell{"-"};
}

/// Which of 0 ... count - 1 have regrets (by the member `of`), those with a small worst one first.
std::vector<size_t> by_worst(const std::vector<Regret>& regrets, size_t Regret::*of, size_t count) {
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < count; ++i) {
    const Regret* found = worst(regrets, [&](const Regret& r) { return r.*of == i; });
    if (found != nullptr) order.emplace_back(found->value, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<size_t> places;
  for (const auto& [value, place] : order) places.push_back(place);
  return places;
}

Section by_sigma(const RegretStudy& study, const std::vector<Regret>& regrets) {
  const auto ranges = by_worst(regrets, &Regret::range, study.ranges.size());
  Section section;
  section.id = "regret";
  section.title = "Regret of mixture tables";
  section.notes = {
      "A levels table fitted to zero-mean normals with log-uniform sigma in a range, used on "
      "normal(0, sigma): its squared error over the smallest possible one there, minus 1. Each "
      "entry "
      "is the worst over all functions and sizes; step functions are exact and take no part.",
      fmt::format("Smallest worst case: sigma from {}.", range_name(study.ranges[ranges.front()]))};
  section.grid.columns = {{"mixture range"}, {"worst", true}, {"where"}};
  for (const double sigma : study.sigmas) {
    section.grid.columns.push_back({"sigma " + shortest(sigma), true});
  }
  for (const size_t i : ranges) {
    const Regret* all = worst(regrets, [&](const Regret& r) { return r.range == i; });
    std::vector<GridCell> row{
        {range_name(study.ranges[i]) + (i == ranges.front() ? " (smallest)" : ""),
         range_name(study.ranges[i])},
        percent(all->value),
        {fmt::format("{}, {} levels, sigma {}", function_name(study.functions[all->function]),
                     all->levels, shortest(all->sigma))}};
    for (const double sigma : study.sigmas) {
      row.push_back(worst_cell(
          worst(regrets, [&](const Regret& r) { return r.range == i && r.sigma == sigma; })));
    }
    section.grid.rows.push_back(std::move(row));
  }
  return section;
}

Section by_function(const RegretStudy& study, const std::vector<Regret>& regrets) {
  const auto ranges = by_worst(regrets, &Regret::range, study.ranges.size());
  auto functions = by_worst(regrets, &Regret::function, study.functions.size());
  std::reverse(functions.begin(), functions.end());
  Section section;
  section.id = "regret-functions";
  section.title = "Regret by function";
  section.notes = {"The worst over all sizes and sigmas; functions with the largest come first."};
  section.grid.columns = {{"function"}};
  for (const size_t i : ranges) {
    section.grid.columns.push_back({range_name(study.ranges[i]), true});
  }
  for (const size_t f : functions) {
    std::vector<GridCell> row{{function_name(study.functions[f])}};
    for (const size_t i : ranges) {
      row.push_back(worst_cell(
          worst(regrets, [&](const Regret& r) { return r.range == i && r.function == f; })));
    }
    section.grid.rows.push_back(std::move(row));
  }
  return section;
}

}  // namespace

std::vector<Section> regret_sections(const RegretStudy& study, const std::vector<Regret>& regrets) {
  return {by_sigma(study, regrets), by_function(study, regrets)};
}

}  // namespace fewbit::solver

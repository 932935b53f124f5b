#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/names.hpp"
#include "report/regret.hpp"

namespace fewbit::solver {
inline namespace reporting {

namespace {

std::string range_name(const Domain& range) {
  return shortest(range.lo) + " to " + shortest(range.hi);
}

Cell percent(double value) {
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

Cell worst_cell(const Regret* regret) {
  return regret ? percent(regret->value) : Cell{"-"};
}

size_t chosen_range(const RegretStudy& study, const std::vector<Regret>& regrets) {
  size_t chosen = 0;
  double least = 0.0;
  for (size_t i = 0; i < study.ranges.size(); ++i) {
    const Regret* found = worst(regrets, [&](const Regret& r) { return r.range == i; });
    if (found == nullptr || (i > 0 && found->value >= least)) continue;
    least = found->value;
    chosen = i;
  }
  return chosen;
}

Section by_sigma(const RegretStudy& study, const std::vector<Regret>& regrets) {
  const size_t chosen = chosen_range(study, regrets);
  Section section;
  section.id = "regret";
  section.title = "Regret of mixture tables";
  section.notes = {
      "A levels table fitted to zero-mean normals with log-uniform sigma in a range, used on "
      "normal(0, sigma): its squared error over the smallest possible one there, minus 1. Each "
      "entry "
      "is the worst over all functions and sizes; step functions are exact and take no part.",
      fmt::format("Smallest worst case: sigma from {}.", range_name(study.ranges[chosen]))};
  section.grid.columns = {{"mixture range"}, {"worst", true}, {"where"}};
  for (const double sigma : study.sigmas) {
    section.grid.columns.push_back({"sigma " + shortest(sigma), true});
  }
  for (size_t i = 0; i < study.ranges.size(); ++i) {
    const Regret* all = worst(regrets, [&](const Regret& r) { return r.range == i; });
    if (all == nullptr) continue;
    std::vector<Cell> row{
        {range_name(study.ranges[i]) + (i == chosen ? " (smallest)" : ""),
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
  Section section;
  section.id = "regret-functions";
  section.title = "Regret by function";
  section.notes = {"The worst over all sizes and sigmas."};
  section.grid.columns = {{"function"}};
  for (const auto& range : study.ranges) section.grid.columns.push_back({range_name(range), true});
  for (size_t f = 0; f < study.functions.size(); ++f) {
    std::vector<Cell> row{{function_name(study.functions[f])}};
    bool any = false;
    for (size_t i = 0; i < study.ranges.size(); ++i) {
      const Regret* found =
          worst(regrets, [&](const Regret& r) { return r.range == i && r.function == f; });
      any = any || found != nullptr;
      row.push_back(worst_cell(found));
    }
    if (any) section.grid.rows.push_back(std::move(row));
  }
  return section;
}

}  // namespace

std::vector<Section> regret_sections(const RegretStudy& study, const std::vector<Regret>& regrets) {
  return {by_sigma(study, regrets), by_function(study, regrets)};
}

}  // namespace reporting
}  // namespace fewbit::solver

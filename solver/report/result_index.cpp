#include "report/result_index.hpp"

#include <algorithm>

#include "report/names.hpp"

namespace fewbit::solver {

namespace {

size_t place_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  const auto place = static_cast<size_t>(found - names.begin());
  if (found == names.end()) names.push_back(name);
  return place;
}

}  // namespace

ResultIndex::ResultIndex(const std::vector<Result>& results, const Labels& labels) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].table) continue;
    const size_t function = place_of(functions, labels.function[i]);
    const size_t variant = place_of(variants, labels.variant[i]);
    sizes.insert(results[i].problem.levels);
    cells[{function, variant}].push_back(&results[i]);
  }
}

std::vector<Key> ResultIndex::legend() const {
  std::vector<Key> keys;
  for (size_t i = 0; i < variants.size(); ++i) keys.push_back({variants[i], i});
  return keys;
}

bool ResultIndex::exact(size_t function) const {
  return std::all_of(cells.begin(), cells.end(), [&](const auto& cell) {
    return cell.first.first != function ||
           std::all_of(cell.second.begin(), cell.second.end(),
                       [](const Result* result) { return result->table->error == 0.0; });
  });
}

std::string ResultIndex::exact_list() const {
  std::string list;
  for (size_t f = 0; f < functions.size(); ++f) {
    if (!exact(f)) continue;
    const auto cell = cells.lower_bound({f, 0});
    list += (list.empty() ? "" : ", ") + functions[f] + " in " +
            size_name(*cell->second.front()->table);
  }
  return list;
}

}  // namespace fewbit::solver

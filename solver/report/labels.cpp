#include "report/labels.hpp"

#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/names.hpp"

namespace fewbit::solver {

namespace {

/// Appends `detail` to the names that results share although it tells them apart.
void tell_apart(std::vector<std::string>& names, const std::vector<std::string>& detail,
                const std::string& separator = ", ") {
  std::map<std::string, std::set<std::string>> details;
  for (size_t i = 0; i < names.size(); ++i) details[names[i]].insert(detail[i]);
  for (size_t i = 0; i < names.size(); ++i) {
    if (details[names[i]].size() > 1) names[i] += separator + detail[i];
  }
}

using Part = std::function<std::string(const Result&)>;

std::vector<std::string> parts_of(const std::vector<Result>& results, const Part& part) {
  std::vector<std::string> texts;
  for (const auto& result : results) texts.push_back(part(result));
  return texts;
}

/// For each result the place of the first one that has its weight: the same data may have been read
/// from several files.
std::vector<std::string> data_names(const std::vector<Result>& results) {
  std::vector<const Result*> first;
  std::vector<std::string> names;
  for (const auto& result : results) {
    const Result* found = nullptr;
    for (const Result* other : first) {
      if (other->problem.weight == result.problem.weight) found = other;
    }
    if (found == nullptr) first.push_back(found = &result);
    const bool data = !result.problem.weight.masses.empty();
    names.push_back(!data ? "" : (found->file.empty() ? found->data : found->file));
  }
  return names;
}

std::string objective_settings(const Result& result) {
  const Objective& objective = result.problem.objective;
  if (!objective.smoothed) return {};
  return fmt::format("tau {}, lambda {}", shortest(objective.tau), shortest(objective.lambda));
}

}  // namespace

Labels labels_of(const std::vector<Result>& results) {
  Labels labels;
  labels.function =
      parts_of(results, [](const Result& r) { return function_name(r.problem.function); });
  tell_apart(labels.function,
             parts_of(results, [](const Result& r) { return r.problem.function.expression; }),
             ": ");
  labels.weight = parts_of(results, [](const Result& r) { return weight_name(r.problem.weight); });
  tell_apart(labels.weight, data_names(results));
  for (size_t i = 0; i < results.size(); ++i) {
    const Problem& problem = results[i].problem;
    const std::string form = problem.objective.smoothed ? "smoothed" : to_string(problem.form);
    labels.variant.push_back(form + ", " + labels.weight[i]);
  }
  tell_apart(labels.variant, parts_of(results, objective_settings));
  tell_apart(labels.variant,
             parts_of(results, [](const Result& r) { return domain_name(r.problem.domain); }));
  tell_apart(labels.variant,
             parts_of(results, [](const Result& r) { return to_string(r.problem.dtype); }));
  return labels;
}

}  // namespace fewbit::solver

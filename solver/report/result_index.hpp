#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "report/document.hpp"
#include "report/labels.hpp"
#include "report/study.hpp"

namespace fewbit::solver {

/// Results that have tables by function (row or card), variant (colour) and asked levels. Points
/// into the results.
struct ResultIndex {
  ResultIndex(const std::vector<Result>& results, const Labels& labels);

  std::vector<std::string> functions;  ///< in order of appearance
  std::vector<std::string> variants;
  std::set<int> sizes;
  std::map<std::pair<size_t, size_t>, std::vector<const Result*>> cells;  ///< function, variant

  std::vector<Key> legend() const;

  /// All tables of the function have error 0.
  bool exact(size_t function) const;

  /// The exact functions: "relu in 1 bit, ..."; empty where there is none.
  std::string exact_list() const;
};

}  // namespace fewbit::solver

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "verify/verify.hpp"

namespace fewbit::solver {

/// Collects findings; a claim about many items gets one finding per item that fails, or a single
/// one when all hold.
class Findings {
 public:
  void add(std::string claim, bool holds, std::string detail) {
    list_.push_back({std::move(claim), holds, std::move(detail)});
  }

  /// |seen - printed| <= tolerance
  void compare(const std::string& claim, double printed, double seen, double tolerance);

  /// `claim`[i] for an item, kept only when it fails; summarise() tells of the others.
  void item(const std::string& claim, size_t i, bool holds, const std::string& detail) {
    if (!holds) add(claim + "[" + std::to_string(i) + "]", false, detail);
  }
  void summarise(const std::string& claim, const std::string& detail);

  std::vector<Finding> take() { return std::move(list_); }

 private:
  std::vector<Finding> list_;
};

}  // namespace fewbit::solver

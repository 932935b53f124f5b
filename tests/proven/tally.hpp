#pragma once

#include <map>
#include <string>

#include <fmt/format.h>

namespace fewbit::test {

/// What came of all problems drawn, by the first words of what was said.
class Tally {
 public:
  void count(const std::string& outcome) { ++counts_[outcome]; }
  int of(const std::string& outcome) { return counts_[outcome]; }
  int all() const {
    int sum = 0;
    for (const auto& [outcome, count] : counts_) sum += count;
    return sum;
  }
  int refused() const {
    int sum = 0;
    for (const auto& [outcome, count] : counts_) sum += outcome.starts_with("refused") ? count : 0;
    return sum;
  }
  void print() const {
    for (const auto& [outcome, count] : counts_) fmt::print("{:6} {}\n", count, outcome);
  }

 private:
  std::map<std::string, int> counts_;
};

/// An error by the first words of its message.
inline std::string kind_of(const std::string& message) {
  if (message.find("do not agree") != std::string::npos) return "refused: search and verifier";
  if (message.find("is constant") != std::string::npos) return "refused: constant";
  if (message.find("has no mass") != std::string::npos) return "refused: no mass";
  return "refused: " + message.substr(0, 45);
}

}  // namespace fewbit::test

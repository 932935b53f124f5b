#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "expression/cursor.hpp"
#include "expression/library.hpp"
#include "expression/tape.hpp"

namespace fewbit::solver {

/// What a call may mean: an operation or a definition, or, by what it is given, either.
struct Callee {
  const OpInfo* operation = nullptr;
  const Definition* definition = nullptr;

  /// How many values go first.
  size_t values() const;
  /// What may follow them.
  const std::vector<Expression::Parameter>& parameters() const;
};

/// Names of values, and how their nodes are made; of several of one name the first counts.
using ValueNames = std::vector<std::pair<std::string, std::function<int()>>>;

/// x, then the parameters, then the constants: a parameter called e or pi is itself.
ValueNames names_of_values(const std::vector<Expression::Parameter>& parameters, TapeBuilder& tape);

/// The words that a text may use.
class Vocabulary {
 public:
  Vocabulary(ValueNames names, const Library& library)
      : names_(std::move(names)), library_(library) {}

  /// The node of the value `word`, which starts at `start`; an error at `in` where it is none.
  int value(const std::string& word, size_t start, const Cursor& in) const;
  /// What calling `word` means, the same.
  Callee function(const std::string& word, size_t start, const Cursor& in) const;

 private:
  [[noreturn]] void refuse_value(const std::string& word, size_t start, const Cursor& in) const;
  [[noreturn]] void refuse_function(const std::string& word, size_t start, const Cursor& in) const;
  std::vector<std::string> function_names() const;

  ValueNames names_;
  const Library& library_;
};

}  // namespace fewbit::solver

#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/formula.hpp"

namespace fewbit::codegen {

/// How tightly the outermost operator of a text binds.
enum Rank { kConditional, kComparison, kSum, kProduct, kPrefix, kPrimary };

struct RankedText {
  std::string code;
  Rank rank;
};

/// What writers of a formula share, whatever the language: terms that are used twice get names,
/// operands their brackets.
class TermWriter {
 protected:
  explicit TermWriter(const Formula& formula) : f_(formula), uses_(size_t(formula.size()), 0) {}
  ~TermWriter() = default;

  virtual RankedText write_term(int index) = 0;

  /// Counts how often the terms under `index` are used.
  void count(int index);
  bool is_used(int index) const { return uses_[size_t(index)] > 0; }
  bool is_used_again(int index) const { return uses_[size_t(index)] > 1; }

  /// A name would only make these longer, or is no value.
  bool is_leaf_or_condition(int index) const;

  /// Gives the term the next name, t0, t1, ..., once its text is known.
  std::string name_next(int index);
  bool has_name(int index) const { return names_.contains(index); }

  /// The term as an operand of an operator that needs at least `rank`.
  std::string write(int index, Rank rank);
  std::string binary(const Term& term, const char* sign, Rank left, Rank right);

  const Formula& f_;

 private:
  std::vector<int> uses_;
  std::map<int, std::string> names_;
};

}  // namespace fewbit::codegen

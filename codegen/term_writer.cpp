#include "codegen/term_writer.hpp"

#include <fmt/format.h>

#include "codegen/comparison.hpp"

namespace fewbit::codegen {

void TermWriter::count(int index) {
  if (index < 0 || uses_[size_t(index)]++ > 0) return;
  const Term term = f_[index];
  count(term.a);
  count(term.b);
  count(term.c);
}

bool TermWriter::is_leaf_or_condition(int index) const {
  const Kind kind = f_[index].kind;
  return kind == Kind::constant || kind == Kind::variable || kind == Kind::parameter ||
         is_comparison(kind);
}

std::string TermWriter::name_next(int index) {
  return names_[index] = fmt::format("t{}", names_.size());
}

std::string TermWriter::write(int index, Rank rank) {
  const auto name = names_.find(index);
  if (name != names_.end()) return name->second;
  const RankedText text = write_term(index);
  return text.rank < rank ? fmt::format("({})", text.code) : text.code;
}

std::string TermWriter::binary(const Term& term, const char* sign, Rank left, Rank right) {
  const std::string first = write(term.a, left);
  return fmt::format("{} {} {}", first, sign, write(term.b, right));
}

}  // namespace fewbit::codegen

#pragma once

#include <string>
#include <vector>

#include "codegen/emit.hpp"
#include "codegen/templates.hpp"
#include "table/table.hpp"

namespace fewbit::codegen {

/// What every emitted file says in its head: licence, owner, title, bits.
Values common_values(const solver::Table& table, Language language, const std::string& name_space);

/// f(x) and table_summary, each line after `start`.
std::string summary_text(const solver::Table& table, const std::string& start);

bool is_python(Language language);

std::string emit_python(const solver::Table& table, Language language,
                        const std::string& name_space);

/// The steps of a search by halves for the number of thresholds below x, of `count`: where x is
/// above threshold `found + step - 1`, `found` grows by `step`.
std::vector<size_t> halving_steps(size_t count);

/// More thresholds than this are searched by halves; fewer are all compared.
inline constexpr size_t kMostCompared = 16;

}  // namespace fewbit::codegen

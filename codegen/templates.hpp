#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace fewbit::codegen {

/// The text of codegen/templates/<name>, built into the program.
std::string_view template_text(std::string_view name);

/// The template with every @KEY@ replaced. Throws std::logic_error for a key without a value.
std::string render(std::string_view name, const std::map<std::string, std::string>& values);

/// The sections of math/*.hpp that `primitives` need, in the file's order, without marker lines and
/// the surrounding namespace.
std::string math_sections(const std::set<std::string>& primitives);

/// All primitives as one header.
std::string math_header();

}  // namespace fewbit::codegen

#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace fewbit::codegen {

/// The text of codegen/templates/<name>, built into the program.
std::string_view template_text(std::string_view name);

using Values = std::map<std::string, std::string>;

/// The template with every @KEY@ replaced; keys are capital letters and _. Throws std::logic_error
/// for a key without a value.
std::string render(std::string_view name, const Values& values);

/// The sections of math/*.hpp that `primitives` need, in the file's order, without marker lines and
/// the surrounding namespace.
std::string math_sections(const std::set<std::string>& primitives);

/// Whether the template math.py.in has a section of that name: what torch and Triton do not have.
bool has_python_section(std::string_view name);

/// The sections of math.py.in that `primitives` need, with every @KEY@ replaced.
std::string python_sections(const std::set<std::string>& primitives, const Values& values);

/// All primitives as one header.
std::string math_header();

}  // namespace fewbit::codegen

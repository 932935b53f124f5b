#pragma once

#include <string>
#include <vector>

namespace fewbit::codegen {

/// The shortest decimal literal of a float: "0.5f", "1e-05f", "INFINITY".
std::string decimal_literal(float value);

/// The exact hexadecimal literal of a float: "0x1.8p-3f", "-INFINITY".
std::string hex_literal(float value);

/// The shortest decimal literal of a double: "0.25", "-10.0", "INFINITY".
std::string double_literal(double value);

/// The items separated by commas, wrapped to lines of at most 100 columns with `indent` spaces.
std::string comma_list(const std::vector<std::string>& items, size_t indent);

}  // namespace fewbit::codegen

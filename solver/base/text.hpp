#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fewbit {

/// The shortest decimal that reads back as exactly `value` ("0.1", "-10", "1e-09", "inf", "nan").
/// Independent of locale.
std::string shortest(double value);

/// "0 levels", "1 level", "2 levels".
std::string counted(size_t count, std::string_view noun);

/// Reads all of `text` as one number; throws Error naming `what` otherwise. Accepts inf and -inf,
/// refuses nan and what overflows or underflows.
double parse_number(std::string_view text, std::string_view what);

/// 64-bit FNV-1a of the text (Fowler, Noll, Vo), as 16 hexadecimal digits: tells texts apart that
/// were not made to be alike.
std::string digest(std::string_view text);

/// Up to three of `candidates` nearest to `word` by edit distance, nearest first.
std::vector<std::string> nearest_names(std::string_view word,
                                       const std::vector<std::string>& candidates);

}  // namespace fewbit

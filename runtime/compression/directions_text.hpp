#pragma once

#include <string>

#include "compression/site_directions.hpp"

namespace fewbit::session {

/// A site's directions as one word: "-" for none, else "8x384x4xnormalised-3c01bd2f..." for eight
/// of 384 channels with coefficients of 4 bits, of what a norm makes of its input (else "plain"),
/// and the basis row by row, four hexadecimal digits of bfloat16 an element.
std::string text_of(const SiteDirectionsPointer& directions);

/// Throws fewbit::Error for what is none.
SiteDirectionsPointer directions_of(const std::string& word);

}  // namespace fewbit::session

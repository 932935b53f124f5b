#pragma once

#include <string>

#include "compression/site_directions.hpp"

namespace fewbit::session {

/// A site's directions as one word: "-" for none, else "2x384xnormalised:0.21:0.14:3c01bd2f..." for
/// two of 384 channels, of what a norm makes of its input (else "plain"), what one and both leave
/// of the energy, and the basis row by row, two hexadecimal digits an element.
std::string text_of(const SiteDirectionsPointer& directions);

/// Throws fewbit::Error for what is none.
SiteDirectionsPointer directions_of(const std::string& word);

}  // namespace fewbit::session

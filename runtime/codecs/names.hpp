#pragma once

#include <string>

namespace fewbit::codecs {

/// "1 bit", "3 bits".
inline std::string bits_text(int bits) {
  return std::to_string(bits) + (bits == 1 ? " bit" : " bits");
}

}  // namespace fewbit::codecs

#include "codecs/codec.hpp"

#include <array>
#include <cstdio>

namespace fewbit::codecs {

std::string bits_text(double bits) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g %s", bits, bits == 1.0 ? "bit" : "bits");
  return text.data();
}

std::string text_of(const Codec& codec) {
  const double bits = codec.bits();
  return codec.name() + (bits > 0.0 ? ", " + bits_text(bits) : "");
}

}  // namespace fewbit::codecs

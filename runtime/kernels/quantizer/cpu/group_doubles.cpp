#include <algorithm>
#include <cmath>

#include "kernels/quantizer/cpu/group_stages.hpp"

namespace fewbit::kernels {

GroupConstants<double> encode_doubles(int bits, const double* x, const uint32_t* words,
                                      int64_t count, uint8_t* codes) {
  const auto [low, high] = std::minmax_element(x, x + count);
  if (!std::all_of(x, x + count, [](double value) { return std::isfinite(value); })) {
    std::fill_n(codes, count, uint8_t{0});
    return not_a_number<double>();
  }
  const GroupConstants<double> constants = constants_of(*low, *high);
  const GroupEncoding<double> encoding(constants, bits);
  for (int64_t i = 0; i < count; ++i) {
    const double t = (x[i] * encoding.scale - encoding.minimum) * encoding.per_unit;
    const auto whole = static_cast<int32_t>(std::nearbyint(std::clamp(t, 0.0, encoding.largest)));
    const int32_t addend = words ? addend_of(words[i]) : kHalf;
    codes[i] = static_cast<uint8_t>((whole + addend) >> kFractionBits);
  }
  return constants;
}

void decode_doubles(int bits, const GroupConstants<double>& of, const uint8_t* codes,
                    const uint32_t* words, int64_t count, double* x) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  const GroupDecoding<double> decoding(of, bits);
  for (int64_t i = 0; i < count; ++i) {
    double code = codes[i];
    if (words) code += dither_of(words[i]) * static_cast<double>(kDitherUnit);
    const double value = (decoding.minimum + code * decoding.step) * decoding.unscale;
    x[i] = std::isnan(value) ? std::numeric_limits<double>::quiet_NaN()
                             : std::clamp(value, -kLargest, kLargest);
  }
}

}  // namespace fewbit::kernels

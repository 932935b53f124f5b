#include <algorithm>
#include <cmath>

#include "kernels/quantizer/cpu/group_stages.hpp"

namespace fewbit::kernels {

GroupConstants<double> encode_doubles(const GroupFormat& format, const double* x,
                                      const uint32_t* words, int64_t count, uint8_t* codes) {
  const auto [low, high] = std::minmax_element(x, x + count);
  if (!std::all_of(x, x + count, [](double value) { return std::isfinite(value); })) {
    std::fill_n(codes, count, uint8_t{0});
    return not_a_number<double>();
  }
  const GroupConstants<double> constants = constants_of(*low, *high);
  const GroupEncoding<double> encoding(constants, format.bits);
  for (int64_t i = 0; i < count; ++i) {
    const int32_t addend = encoding_draws(format.rounding) ? addend_of(words[i]) : kHalf;
    codes[i] = static_cast<uint8_t>(format.rounding == Rounding::squares
                                        ? encoding.code<true>(x[i], addend)
                                        : encoding.code<false>(x[i], addend));
  }
  return constants;
}

void decode_doubles(const GroupFormat& format, const GroupConstants<double>& of,
                    const uint8_t* codes, const uint32_t* words, int64_t count, double* x) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  const bool squares = format.rounding == Rounding::squares;
  const GroupDecoding<double> decoding(of, format.bits, squares);
  for (int64_t i = 0; i < count; ++i) {
    double code = codes[i];
    if (squares) code *= code;
    if (decoding_draws(format.rounding)) {
      code += dither_of(words[i]) * static_cast<double>(kDitherUnit);
    }
    const double value = decoding.value(code);
    x[i] = std::isnan(value) ? std::numeric_limits<double>::quiet_NaN()
                             : std::clamp(value, -kLargest, kLargest);
  }
}

}  // namespace fewbit::kernels

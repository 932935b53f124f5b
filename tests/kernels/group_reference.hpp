#pragma once

#include <boost/multiprecision/cpp_int.hpp>

#include "kernels/quantizer/group.hpp"
#include "tests/kernels/support.hpp"

/// The definition of group quantisation, an element at a time: float arithmetic as double
/// arithmetic rounded, constants found by comparing whole numbers.
namespace fewbit::kernels {

/// x in units of 2^-1074, exactly.
inline boost::multiprecision::cpp_int exact(double x) {
  int exponent = 0;
  const auto significand = static_cast<int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
  const int shift = exponent - 53 + 1074;
  boost::multiprecision::cpp_int whole = significand;
  return shift >= 0 ? boost::multiprecision::cpp_int(whole << shift)
                    : boost::multiprecision::cpp_int(whole / (int64_t{1} << -shift));
}

/// The finite values of bf16 in ascending order, one zero.
inline const std::vector<double>& all_bf16() {
  static const std::vector<double> values = [] {
    std::vector<double> all;
    for (int half = 0; half < 0x7F80; ++half) {
      const auto value = static_cast<double>(float_from_bf16(static_cast<uint16_t>(half)));
      all.push_back(value);
      if (half != 0) all.push_back(-value);
    }
    std::sort(all.begin(), all.end());
    return all;
  }();
  return values;
}

struct ReferenceConstants {
  double minimum;
  double half_range;
};

inline ReferenceConstants reference_constants(ElementType type, const std::vector<double>& x) {
  for (const double value : x) {
    if (!std::isfinite(value)) return {NAN, NAN};
  }
  const double low = *std::min_element(x.begin(), x.end());
  const double high = *std::max_element(x.begin(), x.end());
  if (type == ElementType::f64) {
    double half = std::ldexp(high, -1) - std::ldexp(low, -1);
    if (!std::isnormal(half)) half = std::ldexp(high - low, -1);
    while (2 * exact(half) < exact(high) - exact(low)) half = std::nextafter(half, INFINITY);
    while (half > 0 && 2 * exact(std::nextafter(half, 0.0)) >= exact(high) - exact(low)) {
      half = std::nextafter(half, 0.0);
    }
    return {low + 0.0, half};
  }
  const std::vector<double>& all = all_bf16();
  const auto above = std::upper_bound(all.begin(), all.end(), low);
  const double minimum = above == all.begin() ? *above : *(above - 1);
  auto half =
      std::partition_point(std::lower_bound(all.begin(), all.end(), 0.0), all.end(),
                           [&](double h) { return 2 * exact(h) < exact(high) - exact(minimum); });
  if (half == all.end()) --half;
  return {minimum, *half};
}

/// Rounds to what a type's passes compute in.
inline double working(ElementType type, double x) {
  return type == ElementType::f64 ? x : static_cast<double>(static_cast<float>(x));
}

inline double reference_scale(ElementType type, double half_range) {
  if (!(half_range > 0)) return 1.0;
  if (type == ElementType::f64) {
    return half_range >= 0x1p1000 ? 0.25 : half_range < 0x1p-500 ? 0x1p800 : 1.0;
  }
  return half_range >= 0x1p100 ? 0.25 : half_range < 0x1p-60 ? 0x1p100 : 1.0;
}

/// u in units of 2^-23.
inline int64_t reference_addend(const GroupFormat& format, int64_t i) {
  if (format.rounding == Rounding::nearest) return int64_t{1} << 22;
  const auto element = static_cast<uint64_t>(i);
  const PhiloxWords words = philox(element / 4, format.random.offset, format.random.seed);
  return words.word[element % 4] >> 9;
}

inline int reference_group_code(const GroupFormat& format, const ReferenceConstants& of, double x,
                                int64_t i) {
  if (!(of.half_range > 0)) return 0;
  const auto rounded = [&](double value) { return working(format.type, value); };
  const double scale = reference_scale(format.type, of.half_range);
  const double largest = ((1 << format.bits) - 1) * 0x1p23;
  const double per_unit = rounded(largest / (2.0 * (of.half_range * scale)));
  const double distance = rounded(rounded(x * scale) - rounded(of.minimum * scale));
  const double t = std::clamp(rounded(distance * per_unit), 0.0, largest);
  double place = std::nearbyint(t);
  if (format.rounding == Rounding::squares) {
    const double w = rounded(t * 0x1p-23 * (largest * 0x1p-23));
    const double whole = std::floor(rounded(std::sqrt(w)));
    const double part = rounded(rounded(w - rounded(whole * whole)) / (2.0 * whole + 1.0));
    place = whole * 0x1p23 + std::nearbyint(part * 0x1p23);
  }
  return static_cast<int>((static_cast<int64_t>(place) + reference_addend(format, i)) >> 23);
}

inline double reference_value(const GroupFormat& format, const ReferenceConstants& of, int code,
                              int64_t i) {
  if (std::isnan(of.minimum)) return NAN;
  const auto rounded = [&](double value) { return working(format.type, value); };
  const double scale = reference_scale(format.type, of.half_range);
  double step = rounded(2.0 * (of.half_range * scale) / ((1 << format.bits) - 1));
  double q = code;
  if (format.rounding == Rounding::squares) {
    step = rounded(step / ((1 << format.bits) - 1));
    q *= q;
  }
  if (format.rounding == Rounding::dithered) {
    q = rounded(q + 0.5 - (static_cast<double>(reference_addend(format, i)) + 0.5) * 0x1p-23);
  }
  const double value =
      rounded(rounded(rounded(of.minimum * scale) + rounded(q * step)) * (1.0 / scale));
  const double largest = format.type == ElementType::f64    ? std::numeric_limits<double>::max()
                         : format.type == ElementType::f32  ? 0x1.FFFFFEp127
                         : format.type == ElementType::bf16 ? 0x1.FEp127
                                                            : 65504.0;
  return std::clamp(value, -largest, largest);
}

struct Encoded {
  std::vector<uint8_t> codes;
  std::vector<uint8_t> constants;
};

inline bool operator==(const Encoded& a, const Encoded& b) {
  return a.codes == b.codes && a.constants == b.constants;
}

inline Encoded empty_encoding(const GroupFormat& format, int64_t count) {
  const int64_t groups = group_count(count, format.group);
  return {std::vector<uint8_t>(static_cast<size_t>(code_bytes(count, format.bits)), 0xFF),
          std::vector<uint8_t>(static_cast<size_t>(groups * constant_bytes(format.type)), 0xFF)};
}

/// The constants' bytes.
inline std::vector<uint8_t> stored(ElementType type, const ReferenceConstants& of) {
  if (std::isnan(of.minimum)) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    if (type != ElementType::f64) return {0xC0, 0x7F, 0xC0, 0x7F};
    return bytes_of({nan, nan}, ElementType::f64);
  }
  const ElementType kept = type == ElementType::f64 ? ElementType::f64 : ElementType::bf16;
  return bytes_of({of.minimum, of.half_range}, kept);
}

/// All that a format makes of elements.
struct ReferenceGroups {
  Encoded encoded;
  std::vector<double> values;
};

inline ReferenceGroups reference_groups(const GroupFormat& format, const std::vector<double>& x) {
  const auto count = static_cast<int64_t>(x.size());
  ReferenceGroups result{
      {std::vector<uint8_t>(static_cast<size_t>(code_bytes(count, format.bits)), 0), {}}, {}};
  ReferenceConstants of{};
  for (int64_t i = 0; i < count; ++i) {
    if (i % format.group == 0) {
      const auto begin = x.begin() + i;
      of = reference_constants(format.type, {begin, begin + std::min(format.group, count - i)});
      const std::vector<uint8_t> bytes = stored(format.type, of);
      result.encoded.constants.insert(result.encoded.constants.end(), bytes.begin(), bytes.end());
    }
    const int code = reference_group_code(format, of, x[static_cast<size_t>(i)], i);
    for (int64_t bit = 0; bit < format.bits; ++bit) {
      const int64_t place = i * format.bits + bit;
      result.encoded.codes[static_cast<size_t>(place / 8)] |=
          static_cast<uint8_t>((code >> bit & 1) << place % 8);
    }
    result.values.push_back(reference_value(format, of, code, i));
  }
  return result;
}

inline Encoded run_group_encode(const GroupFormat& format, const std::vector<uint8_t>& x) {
  const int64_t count = static_cast<int64_t>(x.size()) / element_bytes(format.type);
  Encoded result = empty_encoding(format, count);
  group_encode(format, x.data(), result.codes.data(), result.constants.data(), {0, count, count});
  return result;
}

inline std::vector<uint8_t> run_group_decode(const GroupFormat& format, const Encoded& encoded,
                                             int64_t count) {
  std::vector<uint8_t> x(static_cast<size_t>(count * element_bytes(format.type)), 0xFF);
  group_decode(format, encoded.codes.data(), encoded.constants.data(), x.data(), {0, count, count});
  return x;
}

/// What comes back of elements.
inline std::vector<double> coded(const GroupFormat& format, const std::vector<double>& x) {
  const Encoded encoded = run_group_encode(format, bytes_of(x, format.type));
  return elements(run_group_decode(format, encoded, static_cast<int64_t>(x.size())), format.type);
}

}  // namespace fewbit::kernels

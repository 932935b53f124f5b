#include "weights/item_type.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace fewbit::solver {

namespace {

double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double size = 0.0;
  if (exponent == 31) {
    size = fraction == 0 ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  } else {
    size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -size : size;
}

template <class Bits, class Value>
void read_as(bool big_endian, std::span<const char> bytes, std::span<double> numbers,
             const Value& value) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    Bits bits = 0;
    for (size_t j = 0; j < sizeof(Bits); ++j) {
      const size_t place = big_endian ? sizeof(Bits) - 1 - j : j;
      const auto byte = static_cast<unsigned char>(bytes[i * sizeof(Bits) + place]);
      bits = static_cast<Bits>(bits | (static_cast<Bits>(byte) << (8 * j)));
    }
    numbers[i] = value(bits);
  }
}

}  // namespace

size_t ItemType::bytes() const {
  if (kind == Kind::f64) return 8;
  return kind == Kind::f32 ? 4 : 2;
}

void read_items(const ItemType& type, std::span<const char> bytes, std::span<double> numbers) {
  const bool big = type.big_endian;
  switch (type.kind) {
    case ItemType::Kind::f16:
      return read_as<std::uint16_t>(big, bytes, numbers, half_value);
    case ItemType::Kind::bf16:
      return read_as<std::uint16_t>(big, bytes, numbers, [](std::uint16_t bits) {
        return double{std::bit_cast<float>(std::uint32_t{bits} << 16)};
      });
    case ItemType::Kind::f32:
      return read_as<std::uint32_t>(big, bytes, numbers, [](std::uint32_t bits) {
        return double{std::bit_cast<float>(bits)};
      });
    case ItemType::Kind::f64:
      return read_as<std::uint64_t>(big, bytes, numbers,
                                    [](std::uint64_t bits) { return std::bit_cast<double>(bits); });
  }
}

}  // namespace fewbit::solver

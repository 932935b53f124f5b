#pragma once

#include <cstdint>

/// How codes lie in memory, on every device, and how passes over them are split.
namespace fewbit::kernels {

/// Elements that are worked on together. A range of a pass starts at a multiple of it, so that two
/// threads never share a byte of the stream.
inline constexpr int64_t kBlock = 512;

/// Bytes of the code stream of `count` elements, ceil(count * bits / 8) rounded up to 16. Element i
/// owns the bits [i * bits, (i + 1) * bits) of the little-endian stream; what follows the last is
/// zero.
constexpr int64_t code_bytes(int64_t count, int bits) {
  const int64_t whole = count / 8 * bits;  // no overflow before the result itself overflows
  const int64_t rest = (count % 8 * bits + 7) / 8;
  return (whole + rest + 15) / 16 * 16;
}

/// The elements [begin, end) of a pass over `count` elements: begin is a multiple of kBlock, end is
/// one too or is count. Pointers that go with it point at element 0 and need no alignment beyond
/// their type's. The range that ends at count also writes the zeros at the end of the code stream;
/// for count = 0 there is nothing to run.
struct Range {
  int64_t begin;
  int64_t end;
  int64_t count;
};

}  // namespace fewbit::kernels

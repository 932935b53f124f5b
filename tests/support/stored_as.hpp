#pragma once

#include <ostream>

#include <gmock/gmock.h>

#include "fewbit/compressor.hpp"

// How a site is stored: EXPECT_THAT(site.stored, IsCoded("rotated", 8)).
namespace fewbit {

inline void PrintTo(const StoredAs& stored, std::ostream* out) {
  *out << stored.text();
}

namespace test {

MATCHER_P(IsCoded, codec, "") {
  return arg.storage == Storage::coded && arg.codec == codec;
}

/// 0 bits: as many as the codec needs.
MATCHER_P2(IsCoded, codec, bits, "") {
  return arg.storage == Storage::coded && arg.codec == codec && arg.bits == bits;
}

MATCHER(IsRecomputed, "") {
  return arg.storage == Storage::recomputed;
}

MATCHER_P(IsRecomputed, by, "") {
  return arg.storage == Storage::recomputed && arg.recomputed_by == by;
}

MATCHER(IsExact, "") {
  return arg.storage == Storage::exact;
}

MATCHER_P(IsExact, reason, "") {
  return arg.storage == Storage::exact && arg.reason == reason;
}

}  // namespace test
}  // namespace fewbit

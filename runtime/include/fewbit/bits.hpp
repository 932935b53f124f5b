#pragma once

namespace fewbit {

/// Bits of one code, 1 to 8: fewbit::Bits{3}. An activation of n elements saves ceil(n * bits / 8)
/// bytes for backward, rounded up to a multiple of 16.
struct Bits {
  int count;
};

}  // namespace fewbit

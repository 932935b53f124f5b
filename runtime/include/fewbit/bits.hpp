#pragma once

namespace fewbit {

/// Bits of one stored code, from 1 to 8. An activation keeps ceil(n * bits / 8) bytes for backward,
/// rounded up to a multiple of 16.
struct Bits {
  int count;
};

}  // namespace fewbit

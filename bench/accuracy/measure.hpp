#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "bench/accuracy/reference.hpp"
#include "bench/accuracy/subjects.hpp"

namespace fewbit::bench {

/// The largest errors over all points, in units of what is allowed (tests/support) and in units in
/// the last place of the exact result, each with the x where it is. NaN counts as infinite.
struct Worst {
  double units = 0.0;
  double ulps = 0.0;
  float units_at = 0.0f;
  float ulps_at = 0.0f;
};

/// Of one subject.
struct Accuracy {
  Worst value;
  Worst slope;
};

/// Every `stride`th float of either sign whose absolute value has a bit pattern in [begin, end).
struct FloatRange {
  uint32_t begin;
  uint32_t end;
  uint32_t stride;
};

/// The domain's binades: every `stride`th float with 2^-26 <= |x| < 16, and every 97 `stride`th
/// below, zero among them, where x f'' / 2 f' is less than an eighth of an ulp and f is a line.
std::vector<FloatRange> domain_binades(uint32_t stride);

/// Called now and then with the share that is done, by one thread at a time.
using ShareDone = std::function<void(double)>;

/// The errors of each subject over the ranges, worked on by all processors.
std::vector<Accuracy> measure(const Reference& reference, const std::vector<Subject>& subjects,
                              std::span<const FloatRange> ranges, const ShareDone& progress = {});

/// How our largest error, in units of what is allowed, stands to libtorch's.
enum class Standing {
  no_worse,  ///< at most theirs
  close,     ///< more, but at most 0.5: an ulp, so one of the two floats around the exact result
  worse,     ///< more than both
  beyond_bound,  ///< above 1
};
Standing standing_of(const Worst& ours, const Worst& theirs);

}  // namespace fewbit::bench

#pragma once

#include <cstdint>

namespace fewbit::ops {

/// Where fewbit::next_seed takes its seeds while this is open: the innermost of the thread. The
/// n-th seed is a function of `seed` and n.
class SeedScope {
 public:
  explicit SeedScope(int64_t seed);
  ~SeedScope();
  SeedScope(const SeedScope&) = delete;
  SeedScope& operator=(const SeedScope&) = delete;

  int64_t next();

 private:
  int64_t seed_;
  int64_t drawn_ = 0;
  SeedScope* outer_;
};

/// A permutation of 64 bits that leaves no trace of order (Steele, Lea and Flood, SplittableRandom,
/// 2014).
uint64_t mixed(uint64_t word);

}  // namespace fewbit::ops

// The tables that codes of groups are looked up in, and what is encoded together. Included once per
// instruction set.
#if defined(FEWBIT_CODE_TABLES_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_CODE_TABLES_INL)
#undef FEWBIT_CODE_TABLES_INL
#else
#define FEWBIT_CODE_TABLES_INL
#endif

#include <algorithm>

#include "generated/trellis_quantizer.hpp"
#include "kernels/quantizer/cpu/magnitude-inl.hpp"
#include "kernels/quantizer/rotated.hpp"
#include "kernels/stream/cpu/bits-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

inline constexpr int kSubsets = 4;
/// Room for codes before the first one, which are 0.
inline constexpr int kBefore = 4;

/// Levels of a trellis as they are looked up: level 4 k + s is the k-th of subset s.
struct TrellisTable {
  HWY_ALIGN float levels[64] = {};
  /// Thresholds of a bisection within a subset: row d has at 4 path + s that of subset s.
  HWY_ALIGN float tree[3][16] = {};
  /// Of the upper half of the levels: the level, and half its square.
  float upper[16] = {};
  float cost[16] = {};

  TrellisTable(int bits, int states) {
    if (states == 0) return;
    const float* all = generated::trellis_quantizer(bits, states).levels;
    const int count = 2 << bits;
    std::copy_n(all, count, levels);
    for (int depth = 0; depth < bits - 1; ++depth) {
      const int step = (1 << (bits - 1)) >> depth;
      for (int i = 0; i < kSubsets << depth; ++i) {
        const int below = (i / kSubsets * step + step / 2 - 1) * kSubsets + i % kSubsets;
        tree[depth][i] = 0.5f * (all[below] + all[below + kSubsets]);
      }
    }
    for (int i = 0; i < count / 2; ++i) {
      upper[i] = all[count / 2 + i];
      cost[i] = 0.5f * (upper[i] * upper[i]);
    }
  }
};

struct CodeTables {
  MagnitudeTable magnitudes;
  TrellisTable trellis;
  UnpackPlan unpack;

  CodeTables(int bits, int states) : magnitudes(bits), trellis(bits, states), unpack(bits) {}
};

/// Groups whose codes are found together: u is y times the group's inverse.
struct GroupBatch {
  float* y;
  int64_t group;
  int64_t groups;
  const float* inverse;
};

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/activation/cpu/stages.hpp"
#include "kernels/floating_point_mode.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/activation/cpu/backward.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/stream/cpu/bits-inl.hpp"
#include "kernels/stream/cpu/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// Levels by code, zero where the table has none, so that no stream can make a pass read elsewhere.
struct LevelTable {
  HWY_ALIGN float level[256] = {};
  double wide[256] = {};
  int count;
  bool has_zero;

  explicit LevelTable(const StepView& steps) : count(1 << steps.bits) {
    if (steps.levels) {
      std::copy_n(steps.levels, steps.level_count, level);
      std::copy_n(steps.levels, steps.level_count, wide);
    }
    if (steps.wide_levels) std::copy_n(steps.wide_levels, steps.level_count, wide);
    has_zero = std::any_of(wide, wide + count,
                           [](double of_code) { return of_code == 0.0 && !std::signbit(of_code); });
    for (int code = 0; code < count; ++code) {  // -0 becomes 0
      if (level[code] == 0.0f) level[code] = 0.0f;
      if (wide[code] == 0.0) wide[code] = 0.0;
    }
  }
};

/// How many registers hold the levels; 0: they stay in memory.
template <int kRegisters>
class LevelLookup {
 public:
  HWY_INLINE explicit LevelLookup(const LevelTable& table)
      : table_(table.level),
        low_(hn::Load(FloatTag(), table.level)),
        high_(hn::Load(FloatTag(), table.level + hn::Lanes(FloatTag()))) {}

  HWY_INLINE FloatVec operator()(hn::Vec<IntTag> code) const {
    const FloatTag d;
    if constexpr (kRegisters == 1) {
      return hn::TableLookupLanes(low_, hn::IndicesFromVec(d, code));
    } else if constexpr (kRegisters == 2) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
      return FloatVec{_mm512_permutex2var_ps(low_.raw, code.raw, high_.raw)};
#endif
    }
    return hn::GatherIndex(d, table_, code);
  }

 private:
  const float* table_;
  FloatVec low_;
  FloatVec high_;
};

/// What the blocks of a pass share.
struct BackwardPlan {
  int bits;
  LevelTable table;
  UnpackPlan unpack;

  explicit BackwardPlan(const StepView& steps)
      : bits(steps.bits), table(steps), unpack(steps.bits) {}

  /// The codes of the lanes from element i of a block on.
  HWY_INLINE hn::Vec<IntTag> codes(const uint8_t* stream, int64_t i) const {
    return kernels::HWY_NAMESPACE::unpack(unpack, stream + i / 16 * 2 * bits,
                                          static_cast<size_t>(i % 16));
  }
};

/// level * dy. With kZeros levels may be zero, which infinite dy and NaN do not pass.
template <bool kZeros>
HWY_INLINE FloatVec product(FloatVec level, FloatVec dy) {
  const FloatVec dx = hn::Mul(level, dy);
  if constexpr (!kZeros) return dx;
  return hn::IfThenZeroElse(hn::Eq(level, hn::Zero(FloatTag())), dx);
}

template <ElementType kType, int kRegisters, bool kPastCache, bool kZeros>
void backward_block(const BackwardPlan& plan, const uint8_t* stream, const void* dy, void* dx) {
  using E = Element<kType>;
  const LevelLookup<kRegisters> level(plan.table);
  const auto* from = static_cast<const typename E::Stored*>(dy);
  auto* to = static_cast<typename E::Stored*>(dx);
  const int64_t lanes = lane_count();
  const auto at = [&](int64_t i) HWY_ATTR {
    return product<kZeros>(level(plan.codes(stream, i)), E::load(from + i));
  };
  for (int64_t i = 0; i < kBlock; i += 2 * lanes) {
    E::template store<kPastCache>(at(i), at(i + lanes), to + i);
  }
}

inline void backward_doubles(const BackwardPlan& plan, const uint8_t* stream, const void* dy,
                             void* dx) {
  HWY_ALIGN int32_t codes[16];
  for (int64_t i = 0; i < kBlock; ++i) {
    const int64_t lane = i % lane_count();
    if (lane == 0) hn::Store(plan.codes(stream, i), IntTag(), codes);
    const double level = plan.table.wide[codes[lane]];
    double value = 0.0;
    std::memcpy(&value, static_cast<const uint8_t*>(dy) + 8 * i, 8);
    value = plan.table.has_zero && level == 0.0 ? 0.0 : value * level;
    std::memcpy(static_cast<uint8_t*>(dx) + 8 * i, &value, 8);
  }
}

using BackwardStage = void(const BackwardPlan&, const uint8_t* stream, const void* dy, void* dx);

template <int kRegisters, bool kPastCache, bool kZeros>
BackwardStage* backward_stage(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return backward_block<ElementType::f32, kRegisters, kPastCache, kZeros>;
    case ElementType::bf16:
      return backward_block<ElementType::bf16, kRegisters, kPastCache, kZeros>;
    case ElementType::f16:
      return backward_block<ElementType::f16, kRegisters, kPastCache, kZeros>;
    default:
      return backward_doubles;
  }
}

template <bool kPastCache, bool kZeros>
BackwardStage* backward_stage(ElementType type, int level_count) {
  const int lanes = static_cast<int>(lane_count());
  if (level_count <= lanes) return backward_stage<1, kPastCache, kZeros>(type);
  if (level_count <= 2 * lanes) return backward_stage<2, kPastCache, kZeros>(type);
  return backward_stage<0, kPastCache, kZeros>(type);
}

template <bool kPastCache>
BackwardStage* backward_stage(ElementType type, const LevelTable& table) {
  return table.has_zero ? backward_stage<kPastCache, true>(type, table.count)
                        : backward_stage<kPastCache, false>(type, table.count);
}

void run_backward(const BackwardCall& call) {
  const BackwardPlan plan(*call.steps);
  const Range& range = call.range;
  const int64_t size = element_bytes(call.type);
  const auto* dy = static_cast<const uint8_t*>(call.dy);
  auto* dx = static_cast<uint8_t*>(call.dx);
  const bool past_cache = stores_past_cache(range, call.type, dy, dx);
  BackwardStage* const stage = past_cache ? backward_stage<true>(call.type, plan.table)
                                          : backward_stage<false>(call.type, plan.table);

  // The last block of the stream has no bytes after it to read.
  const int64_t inner = std::min(range.end, range.count - 1) / kBlock * kBlock;
  for (int64_t i = range.begin; i < inner; i += kBlock) {
    prefetch_ahead(dy + i * size, kBlock * size);
    stage(plan, call.codes + i / 8 * plan.bits, dy + i * size, dx + i * size);
  }
  const int64_t first = std::max(inner, range.begin);
  if (first < range.end) {
    const auto bytes = static_cast<size_t>((range.end - first) * size);
    uint8_t stream[kBitsBuffer] = {};
    alignas(64) uint8_t padded[kBlock * 8] = {};
    const int64_t begin = first / 8 * plan.bits;
    std::memcpy(stream, call.codes + begin,
                static_cast<size_t>(code_bytes(range.count, plan.bits) - begin));
    std::memcpy(padded, dy + first * size, bytes);
    stage(plan, stream, padded, padded);
    std::memcpy(dx + first * size, padded, bytes);
  }
  if (past_cache) hwy::FlushStream();
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fewbit::kernels {

HWY_EXPORT(run_backward);

void activation_backward(const StepView& steps, ElementType type, const void* dy,
                         const uint8_t* codes, void* dx, const Range& range) {
  const DefaultFloatingPoint arithmetic;
  HWY_DYNAMIC_DISPATCH(run_backward)({&steps, type, dy, codes, dx, range});
}

}  // namespace fewbit::kernels
#endif

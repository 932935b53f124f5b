#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/cpu/stages.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/backward.cpp"
#include <hwy/foreach_target.h>
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "kernels/cpu/bits-inl.hpp"
#include "kernels/cpu/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// Levels by code, zero where the table has none, so that no stream can make a pass read elsewhere.
struct LevelTable {
  HWY_ALIGN float level[256] = {};
  int count;

  explicit LevelTable(const StepView& steps) : count(1 << steps.bits) {
    std::copy_n(steps.levels, steps.level_count, level);
  }
};

/// How many registers hold the levels; 0: they stay in memory.
template <int kRegisters>
class LevelLookup {
 public:
  explicit LevelLookup(const LevelTable& table)
      : table_(table.level),
        low_(hn::Load(FloatTag(), table.level)),
        high_(hn::Load(FloatTag(), table.level + hn::Lanes(FloatTag()))) {}

  FloatVec operator()(hn::Vec<IntTag> code) const {
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

template <int kRegisters>
void decode_block(const UnpackPlan& unpack_plan, const LevelTable& table, int bits,
                  const uint8_t* stream, float* q) {
  const FloatTag d;
  const LevelLookup<kRegisters> lookup(table);
  for (int64_t i = 0; i < kBlock; i += 16) {
    for (size_t lane = 0; lane < 16; lane += hn::Lanes(d)) {
      hn::Store(lookup(unpack(unpack_plan, stream, lane)), d, q + i + lane);
    }
    stream += 2 * bits;
  }
}

template <ElementType kType>
void scale_block(const float* q, const void* dy, void* dx, bool past_cache) {
  using E = Element<kType>;
  const FloatTag d;
  const auto* source = static_cast<const typename E::Stored*>(dy);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  alignas(64) float product[kBlock];
  for (int64_t i = 0; i < kBlock; i += lanes) {
    hn::Store(hn::Mul(hn::Load(d, q + i), E::load(source + i)), d, product + i);
  }
  store_block<kType>(product, dx, past_cache);
}

template <>
inline void scale_block<ElementType::f64>(const float* q, const void* dy, void* dx, bool) {
  const auto* source = static_cast<const uint8_t*>(dy);
  auto* target = static_cast<uint8_t*>(dx);
  for (int64_t i = 0; i < kBlock; ++i) {
    double value = 0.0;
    std::memcpy(&value, source + 8 * i, 8);
    value *= static_cast<double>(q[i]);
    std::memcpy(target + 8 * i, &value, 8);
  }
}

using DecodeStage = void(const UnpackPlan&, const LevelTable&, int bits, const uint8_t*, float*);
using ScaleStage = void(const float* q, const void* dy, void* dx, bool past_cache);

inline DecodeStage* decode_stage(const LevelTable& table) {
  const int lanes = static_cast<int>(hn::Lanes(FloatTag()));
  if (table.count <= lanes) return decode_block<1>;
  return table.count <= 2 * lanes ? decode_block<2> : decode_block<0>;
}

inline ScaleStage* scale_stage(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return scale_block<ElementType::f32>;
    case ElementType::bf16:
      return scale_block<ElementType::bf16>;
    case ElementType::f16:
      return scale_block<ElementType::f16>;
    default:
      return scale_block<ElementType::f64>;
  }
}

void run_backward(const BackwardCall& call) {
  const int bits = call.steps->bits;
  const LevelTable table(*call.steps);
  const UnpackPlan plan(bits);
  DecodeStage* const decode = decode_stage(table);
  ScaleStage* const scale = scale_stage(call.type);
  const Range& range = call.range;
  const int64_t size = element_bytes(call.type);
  const bool past_cache = stores_past_cache(range, call.type, call.dy, call.dx);
  const auto* dy = static_cast<const uint8_t*>(call.dy);
  auto* dx = static_cast<uint8_t*>(call.dx);
  alignas(64) float q[kBlock];

  // The last block of the stream has no bytes after it to read.
  const int64_t inner = std::min(range.end, range.count - 1) / kBlock * kBlock;
  for (int64_t i = range.begin; i < inner; i += kBlock) {
    decode(plan, table, bits, call.codes + i / 8 * bits, q);
    scale(q, dy + i * size, dx + i * size, past_cache);
  }
  const int64_t first = std::max(inner, range.begin);
  if (first < range.end) {
    const auto bytes = static_cast<size_t>((range.end - first) * size);
    uint8_t stream[kBitsBuffer] = {};
    alignas(64) uint8_t padded[kBlock * 8] = {};
    const int64_t begin = first / 8 * bits;
    std::memcpy(stream, call.codes + begin,
                static_cast<size_t>(code_bytes(range.count, bits) - begin));
    std::memcpy(padded, dy + first * size, bytes);
    decode(plan, table, bits, stream, q);
    scale(q, padded, padded, false);
    std::memcpy(dx + first * size, padded, bytes);
  }
  if (past_cache) hwy::FlushStream();
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fewbit::kernels {

HWY_EXPORT(run_backward);

void backward(const StepView& steps, ElementType type, const void* dy, const uint8_t* codes,
              void* dx, const Range& range) {
  HWY_DYNAMIC_DISPATCH(run_backward)({&steps, type, dy, codes, dx, range});
}

}  // namespace fewbit::kernels
#endif

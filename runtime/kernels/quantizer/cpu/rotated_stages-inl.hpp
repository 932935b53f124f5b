// What is done with one group of floats, for each size of groups and width of codes. Included once
// per instruction set.
#if defined(FEWBIT_ROTATED_STAGES_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_ROTATED_STAGES_INL)
#undef FEWBIT_ROTATED_STAGES_INL
#else
#define FEWBIT_ROTATED_STAGES_INL
#endif

#include "kernels/quantizer/cpu/hadamard-inl.hpp"
#include "kernels/quantizer/cpu/magnitude-inl.hpp"
#include "kernels/stream/cpu/bits-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// Lanes that the signs of elements first, first + 1, ... of a group turn round.
HWY_INLINE hn::Mask<FloatTag> minus_mask(const uint32_t* signs, int first) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(signs) + first / 8;
  if constexpr (kLanes >= 8) return hn::LoadMaskBits(FloatTag(), bytes);
  const auto nibble = static_cast<uint8_t>(*bytes >> first % 8);
  return hn::LoadMaskBits(FloatTag(), &nibble);
}

/// The transform of the vectors at(0), at(1), ... of a group.
template <int kGroup, class At>
HWY_INLINE void hadamard(const At& at, float* y) {
  constexpr int kVectors = kGroup / kLanes;
  constexpr int kChunk = kVectors < kInRegisters ? kVectors : kInRegisters;
  const FloatTag d;
  if constexpr (kVectors > kChunk) {
    for (int i = 0; i < kVectors; ++i) hn::Store(at(i), d, y + i * kLanes);
    for (int half = kVectors / 2; half >= kChunk; half /= 2) {
      for (int i = 0; i < kVectors; ++i) {
        if ((i & half) != 0) continue;
        const FloatVec low = hn::Load(d, y + i * kLanes);
        const FloatVec high = hn::Load(d, y + (i + half) * kLanes);
        hn::Store(hn::Add(low, high), d, y + i * kLanes);
        hn::Store(hn::Sub(low, high), d, y + (i + half) * kLanes);
      }
    }
  }
  for (int first = 0; first < kVectors; first += kChunk) {
    FloatVec v[kChunk];
#pragma GCC unroll 16
    for (int i = 0; i < kChunk; ++i) {
      v[i] = kVectors > kChunk ? hn::Load(d, y + (first + i) * kLanes) : at(first + i);
    }
    hadamard_of_vectors<kChunk>(v);
#pragma GCC unroll 16
    for (int i = 0; i < kChunk; ++i) {
      hn::Store(hadamard_in_lanes(v[i]), d, y + (first + i) * kLanes);
    }
  }
}

template <int kGroup>
float sum_group(const float* x) {
  const FloatTag d;
  return hn::GetLane(sum_of_lanes(sum_of_vectors<kGroup / kLanes>(
      [&](int i) HWY_ATTR { return hn::LoadU(d, x + i * kLanes); })));
}

/// y = H S (x - mean); the sum of the squares of x - mean.
template <int kGroup>
float rotate_group(const float* x, float mean, const uint32_t* signs, float* y) {
  const FloatTag d;
  const FloatVec center = hn::Set(d, mean);
  const auto at = [&](int i) HWY_ATTR { return hn::Sub(hn::LoadU(d, x + i * kLanes), center); };
  hadamard<kGroup>(
      [&](int i) HWY_ATTR {
        const auto minus = minus_mask(signs, i * kLanes);
        return hn::Xor(at(i), hn::IfThenElseZero(minus, hn::Set(d, -0.0f)));
      },
      y);
  return hn::GetLane(sum_of_lanes(sum_of_vectors<kGroup / kLanes>([&](int i) HWY_ATTR {
    const FloatVec v = at(i);
    return hn::Mul(v, v);
  })));
}

/// x = mean + factor S H q, at most `limit` in size. q is worked on in place.
template <int kGroup>
void rotate_group_back(float* q, float mean, float factor, float limit, const uint32_t* signs,
                       float* x) {
  const FloatTag d;
  hadamard<kGroup>([&](int i) HWY_ATTR { return hn::Load(d, q + i * kLanes); }, q);
  const FloatVec center = hn::Set(d, mean);
  const FloatVec plus = hn::Set(d, factor);
  const FloatVec minus = hn::Set(d, -factor);
  const FloatVec most = hn::Set(d, limit);
  const FloatVec least = hn::Set(d, -limit);
  for (int i = 0; i < kGroup / kLanes; ++i) {
    const FloatVec w = hn::Load(d, q + i * kLanes);
    const FloatVec scale = hn::IfThenElse(minus_mask(signs, i * kLanes), minus, plus);
    const FloatVec v = hn::Add(center, hn::Mul(scale, w));
    hn::StoreU(max_or_nan(least, min_or_nan(most, v)), d, x + i * kLanes);
  }
}

/// The codes of a vector of u, one a byte; |u| times its level.
template <int kBits>
HWY_INLINE FloatVec quantize_vector(const Magnitudes<kBits>& table, FloatVec u, uint8_t* codes) {
  const IntTag di;
  const ByteTag db;
  const FloatVec size = hn::Abs(u);
  const IntVec place = table.place(size);
  // All bits where u is negative.
  const IntVec below = hn::BroadcastSignBit(hn::BitCast(di, u));
  const IntVec code = hn::And(hn::Xor(hn::Or(place, hn::Set(di, 1 << (kBits - 1))), below),
                              hn::Set(di, (1 << kBits) - 1));
  hn::StoreU(hn::TruncateTo(db, hn::BitCast(UnsignedTag(), code)), db, codes);
  return hn::Mul(size, table.level(place));
}

/// Codes of u = y inverse, one a byte. The first half of y becomes what <u, q> is the sum of:
/// elements at distance group / 2 together.
template <int kBits>
void quantize_group(const MagnitudeTable& magnitudes, float* y, int64_t group, float inverse,
                    uint8_t* codes) {
  const FloatTag d;
  const Magnitudes<kBits> table(magnitudes);
  const FloatVec scale = hn::Set(d, inverse);
  const int64_t half = group / 2;
  for (int64_t i = 0; i < half; i += kLanes) {
    const FloatVec low = hn::Mul(hn::Load(d, y + i), scale);
    const FloatVec high = hn::Mul(hn::Load(d, y + half + i), scale);
    hn::Store(hn::Add(quantize_vector(table, low, codes + i),
                      quantize_vector(table, high, codes + half + i)),
              d, y + i);
  }
}

/// The levels of a group's codes. Reads up to 14 bytes beyond them.
template <int kBits>
void levels_of_group(const MagnitudeTable& magnitudes, const UnpackPlan& plan, const uint8_t* codes,
                     int64_t group, float* q) {
  const FloatTag d;
  const IntTag di;
  const Magnitudes<kBits> table(magnitudes);
  for (int64_t i = 0; i < group; i += kLanes) {
    const IntVec code = unpack(plan, codes + i / 16 * 2 * kBits, static_cast<size_t>(i % 16));
    const IntVec upper = hn::Set(di, 1 << (kBits - 1));
    const auto is_below = hn::Lt(code, upper);
    const IntVec place =
        hn::And(hn::IfThenElse(is_below, hn::Not(code), code), hn::Set(di, (1 << (kBits - 1)) - 1));
    const FloatVec size = table.level(place);
    hn::Store(hn::IfThenElse(hn::RebindMask(d, is_below), hn::Neg(size), size), d, q + i);
  }
}

struct GroupStages {
  float (*sum)(const float* x);
  float (*sum_half)(const float* x);
  float (*rotate)(const float* x, float mean, const uint32_t* signs, float* y);
  void (*rotate_back)(float* q, float mean, float factor, float limit, const uint32_t* signs,
                      float* x);
};

template <int kGroup>
constexpr GroupStages kStagesOf = {sum_group<kGroup>, sum_group<kGroup / 2>, rotate_group<kGroup>,
                                   rotate_group_back<kGroup>};

inline GroupStages group_stages(int64_t group) {
  switch (group) {
    case 64:
      return kStagesOf<64>;
    case 128:
      return kStagesOf<128>;
    case 256:
      return kStagesOf<256>;
    case 512:
      return kStagesOf<512>;
    default:
      return kStagesOf<1024>;
  }
}

struct CodeStages {
  void (*quantize)(const MagnitudeTable& table, float* y, int64_t group, float inverse,
                   uint8_t* codes);
  void (*levels)(const MagnitudeTable& table, const UnpackPlan& plan, const uint8_t* codes,
                 int64_t group, float* q);
};

template <int kBits>
constexpr CodeStages kCodesOf = {quantize_group<kBits>, levels_of_group<kBits>};

inline CodeStages code_stages(int bits) {
  constexpr CodeStages kStages[] = {kCodesOf<1>, kCodesOf<2>, kCodesOf<3>, kCodesOf<4>,
                                    kCodesOf<5>, kCodesOf<6>, kCodesOf<7>, kCodesOf<8>};
  return kStages[bits - 1];
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

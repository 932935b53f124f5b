// What is done with groups of floats, for each size of groups and kind of codes. Included once per
// instruction set.
#if defined(FEWBIT_ROTATED_STAGES_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_ROTATED_STAGES_INL)
#undef FEWBIT_ROTATED_STAGES_INL
#else
#define FEWBIT_ROTATED_STAGES_INL
#endif

#include "kernels/quantizer/cpu/hadamard-inl.hpp"
#include "kernels/quantizer/cpu/scalar_codes-inl.hpp"
#include "kernels/quantizer/cpu/trellis-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// The transform of the vectors at(0), at(1), ..., each of which is asked for once and before y is
/// written there.
template <int kVectors, class At>
HWY_INLINE void hadamard(const At& at, float* y) {
  const FloatTag d;
  if constexpr (kVectors <= kInRegisters) {
    FloatVec v[kVectors];
#pragma GCC unroll 16
    for (int i = 0; i < kVectors; ++i) v[i] = at(i);
    hadamard_of_vectors<kVectors>(v);
#pragma GCC unroll 16
    for (int i = 0; i < kVectors; ++i) hn::Store(hadamard_in_lanes(v[i]), d, y + i * kLanes);
  } else {
    // The greatest distances, as many as a pass has registers for, and then each part for itself.
    constexpr int kParts = std::min(kVectors / kInRegisters, kInRegisters);
    constexpr int kPart = kVectors / kParts;
    for (int i = 0; i < kPart; ++i) {
      FloatVec v[kParts];
#pragma GCC unroll 16
      for (int j = 0; j < kParts; ++j) v[j] = at(j * kPart + i);
      hadamard_of_vectors<kParts>(v);
#pragma GCC unroll 16
      for (int j = 0; j < kParts; ++j) hn::Store(v[j], d, y + (j * kPart + i) * kLanes);
    }
    for (int j = 0; j < kParts; ++j) {
      float* const part = y + j * kPart * kLanes;
      hadamard<kPart>([&](int i) HWY_ATTR { return hn::Load(d, part + i * kLanes); }, part);
    }
  }
}

template <int kGroup>
float sum_group(const float* x) {
  const FloatTag d;
  return hn::GetLane(sum_of_lanes(sum_of_vectors<kGroup / kLanes>(
      [&](int i) HWY_ATTR { return hn::LoadU(d, x + i * kLanes); })));
}

/// v turned round where the signs of elements first, first + 1, ... say so.
HWY_INLINE FloatVec turned(FloatVec v, const uint32_t* signs, int first) {
  const FloatTag d;
  const auto* stream = reinterpret_cast<const uint8_t*>(signs);
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  const auto is_minus = hn::LoadMaskBits(d, stream + first / 8);
  return FloatVec{_mm512_mask_xor_ps(v.raw, is_minus.raw, v.raw, hn::Set(d, -0.0f).raw)};
#else
  return hn::Xor(v, hn::And(bits_on_top(stream, first), hn::Set(d, -0.0f)));
#endif
}

/// Of the squares of x - mean.
struct Squares {
  float sum;
  float greatest;
};

/// y = H S H S (x - mean).
template <int kGroup>
Squares rotate_group(const float* x, float mean, const uint32_t* signs, float* y) {
  const FloatTag d;
  const FloatVec center = hn::Set(d, mean);
  const auto at = [&](int i) HWY_ATTR { return hn::Sub(hn::LoadU(d, x + i * kLanes), center); };
  constexpr int kVectors = kGroup / kLanes;
  hadamard<kVectors>([&](int i) HWY_ATTR { return turned(at(i), signs, i * kLanes); }, y);
  hadamard<kVectors>(
      [&](int i) HWY_ATTR { return turned(hn::Load(d, y + i * kLanes), signs, i * kLanes); }, y);
  FloatVec greatest = hn::Zero(d);
  const FloatVec sum = sum_of_vectors<kVectors>([&](int i) HWY_ATTR {
    const FloatVec v = at(i);
    const FloatVec square = hn::Mul(v, v);
    greatest = hn::Max(greatest, square);
    return square;
  });
  return {hn::GetLane(sum_of_lanes(sum)), hn::GetLane(hn::MaxOfLanes(d, greatest))};
}

/// x = mean + factor S H S H q / kGroup, at most `limit` in size. q is worked on in place.
template <int kGroup>
void rotate_group_back(float* q, float mean, float factor, float limit, const uint32_t* signs,
                       float* x) {
  const FloatTag d;
  constexpr int kVectors = kGroup / kLanes;
  hadamard<kVectors>([&](int i) HWY_ATTR { return hn::Load(d, q + i * kLanes); }, q);
  hadamard<kVectors>(
      [&](int i) HWY_ATTR { return turned(hn::Load(d, q + i * kLanes), signs, i * kLanes); }, q);
  const FloatVec center = hn::Set(d, mean);
  const float share = factor * (1.0f / kGroup);  // exact
  const FloatVec scale = hn::Set(d, share);
  const FloatVec most = hn::Set(d, limit);
  const FloatVec least = hn::Set(d, -limit);
  for (int i = 0; i < kVectors; ++i) {
    const FloatVec w = turned(hn::Load(d, q + i * kLanes), signs, i * kLanes);
    const FloatVec v = hn::Add(center, hn::Mul(scale, w));
    hn::StoreU(max_or_nan(least, min_or_nan(most, v)), d, x + i * kLanes);
  }
}

struct GroupStages {
  float (*sum)(const float* x);
  float (*sum_half)(const float* x);
  Squares (*rotate)(const float* x, float mean, const uint32_t* signs, float* y);
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

/// For widths of codes and states of a trellis.
struct CodeStages {
  /// One a byte. The first half of each group of y becomes what <u, q> is the sum of: elements at
  /// distance group / 2 together.
  void (*encode)(const CodeTables& tables, const GroupBatch& batch, uint8_t* codes);
  /// The levels of a group's codes. Reads up to 14 bytes beyond them.
  void (*decode)(const CodeTables& tables, const uint8_t* codes, int64_t group, float* q);
};

template <int kBits>
constexpr CodeStages kScalar = {encode_scalar<kBits>, decode_scalar<kBits>};
template <int kBits, int kStates>
constexpr CodeStages kTrellis = {encode_trellis<kBits, kStates>, decode_trellis<kBits, kStates>};

inline CodeStages code_stages(int bits, int states) {
  constexpr CodeStages kBySize[] = {kScalar<1>, kScalar<2>, kScalar<3>, kScalar<4>,
                                    kScalar<5>, kScalar<6>, kScalar<7>, kScalar<8>};
  constexpr CodeStages kOfFour[] = {kTrellis<1, 4>, kTrellis<2, 4>, kTrellis<3, 4>, kTrellis<4, 4>};
  constexpr CodeStages kOfEight[] = {kTrellis<1, 8>, kTrellis<2, 8>, kTrellis<3, 8>,
                                     kTrellis<4, 8>};
  if (states == 0) return kBySize[bits - 1];
  return states == 4 ? kOfFour[bits - 1] : kOfEight[bits - 1];
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

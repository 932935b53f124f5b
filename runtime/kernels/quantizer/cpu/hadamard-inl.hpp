// A group of elements in vectors: sums and the Walsh-Hadamard transform, distances G / 2 to 1.
// Included once per instruction set.
#if defined(FEWBIT_HADAMARD_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_HADAMARD_INL)
#undef FEWBIT_HADAMARD_INL
#else
#define FEWBIT_HADAMARD_INL
#endif

#include "kernels/stream/cpu/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

inline constexpr int kLanes = static_cast<int>(hn::MaxLanes(FloatTag()));
/// Vectors that the transform works on at a time: as many as there are registers for.
inline constexpr int kInRegisters = kLanes == 16 ? 16 : 8;

/// Lane i takes lane i ^ kDistance.
template <int kDistance>
HWY_INLINE FloatVec exchanged(FloatVec v) {
  const FloatTag d;
  if constexpr (kDistance == 1) return hn::Reverse2(d, v);
  if constexpr (kDistance == 2) return hn::Shuffle1032(v);
  if constexpr (kDistance == 4) return hn::SwapAdjacentBlocks(v);
  if constexpr (kDistance == 8) return hn::ConcatLowerUpper(d, v, v);
}

/// Every lane the sum of all.
template <int kDistance = kLanes / 2>
HWY_INLINE FloatVec sum_of_lanes(FloatVec v) {
  if constexpr (kDistance == 0) {
    return v;
  } else {
    return sum_of_lanes<kDistance / 2>(hn::Add(v, exchanged<kDistance>(v)));
  }
}

/// The sum of at(0) to at(kCount - 1).
template <int kCount, class At>
HWY_INLINE FloatVec sum_of_vectors(const At& at) {
  if constexpr (kCount == 1) {
    return at(0);
  } else {
    return sum_of_vectors<kCount / 2>([&](int i)
                                          HWY_ATTR { return hn::Add(at(i), at(i + kCount / 2)); });
  }
}

/// Sums where the lane's bit is clear, differences where it is set. The product is exact.
template <int kDistance = kLanes / 2>
HWY_INLINE FloatVec hadamard_in_lanes(FloatVec v) {
  if constexpr (kDistance == 0) {
    return v;
  } else {
    const FloatTag d;
    const hn::RebindToUnsigned<FloatTag> du;
    const auto bit = hn::And(hn::Iota(du, 0), hn::Set(du, kDistance));
    const auto is_upper = hn::RebindMask(d, hn::Ne(bit, hn::Zero(du)));
    const FloatVec sign = hn::IfThenElse(is_upper, hn::Set(d, -1.0f), hn::Set(d, 1.0f));
    return hadamard_in_lanes<kDistance / 2>(hn::MulAdd(v, sign, exchanged<kDistance>(v)));
  }
}

/// Distances of whole vectors, from kCount / 2 down to 1.
template <int kCount>
HWY_INLINE void hadamard_of_vectors(FloatVec* v) {
  if constexpr (kCount > 1) {
    constexpr int kHalf = kCount / 2;
#pragma GCC unroll 16
    for (int i = 0; i < kHalf; ++i) {
      const FloatVec sum = hn::Add(v[i], v[i + kHalf]);
      v[i + kHalf] = hn::Sub(v[i], v[i + kHalf]);
      v[i] = sum;
    }
    hadamard_of_vectors<kHalf>(v);
    hadamard_of_vectors<kHalf>(v + kHalf);
  }
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

// Elements of a group as floats, and back. Included once per instruction set.
#if defined(FEWBIT_ROTATED_ELEMENTS_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_ROTATED_ELEMENTS_INL)
#undef FEWBIT_ROTATED_ELEMENTS_INL
#else
#define FEWBIT_ROTATED_ELEMENTS_INL
#endif

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/stream/cpu/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// `count` elements, a multiple of 64.
template <ElementType kType>
void load_floats(const void* from, int64_t count, float* x) {
  using E = Element<kType>;
  const auto* source = static_cast<const typename E::Stored*>(from);
  for (int64_t i = 0; i < count; i += lane_count()) {
    hn::Store(E::load(source + i), FloatTag(), x + i);
  }
}

template <>
inline void load_floats<ElementType::f64>(const void* from, int64_t count, float* x) {
  for (int64_t i = 0; i < count; ++i) {
    double value = 0.0;
    std::memcpy(&value, static_cast<const uint8_t*>(from) + 8 * i, 8);
    x[i] = static_cast<float>(value);
  }
}

template <ElementType kType, bool kPastCache>
void store_floats(const float* x, int64_t count, void* to) {
  using E = Element<kType>;
  auto* target = static_cast<typename E::Stored*>(to);
  for (int64_t i = 0; i < count; i += 2 * lane_count()) {
    E::template store<kPastCache>(hn::Load(FloatTag(), x + i),
                                  hn::Load(FloatTag(), x + i + lane_count()), target + i);
  }
}

inline void store_doubles(const float* x, int64_t count, void* to) {
  for (int64_t i = 0; i < count; ++i) {
    const double value = x[i];
    std::memcpy(static_cast<uint8_t*>(to) + 8 * i, &value, 8);
  }
}

struct ElementStages {
  void (*load)(const void* from, int64_t count, float* x);
  void (*store)(const float* x, int64_t count, void* to);
  void (*store_past_cache)(const float* x, int64_t count, void* to);  ///< `to` is aligned for it
};

template <ElementType kType>
constexpr ElementStages kElementStages = {load_floats<kType>, store_floats<kType, false>,
                                          store_floats<kType, true>};

inline ElementStages element_stages(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return kElementStages<ElementType::f32>;
    case ElementType::bf16:
      return kElementStages<ElementType::bf16>;
    case ElementType::f16:
      return kElementStages<ElementType::f16>;
    default:
      return {load_floats<ElementType::f64>, store_doubles, store_doubles};
  }
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

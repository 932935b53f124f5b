// The codes of the unbiased form. Included once per instruction set.
#if defined(FEWBIT_ROUNDING_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_ROUNDING_INL)
#undef FEWBIT_ROUNDING_INL
#else
#define FEWBIT_ROUNDING_INL
#endif

#include "kernels/activation/cpu/encode_plan.hpp"
#include "kernels/stream/cpu/elements-inl.hpp"
#include "kernels/stream/cpu/philox-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// f', then for each element one of the two levels around it: the upper one where a uniform number
/// of 24 bits, scaled to the distance of the two, is below what f' exceeds the lower one by.
inline void encode_at_random(const EncodePlan& plan, int64_t first, const float* x,
                             uint8_t* codes) {
  const FloatTag d;
  const IntTag di;
  HWY_ALIGN float slope[kBlock];
  HWY_ALIGN uint32_t words[kBlock];
  plan.slope(x, slope, plan.parameters);
  philox_block(plan.random, first, words);
  const int upper = plan.level_count > 1 ? 1 : 0;
  for (int64_t i = 0; i < kBlock; i += lane_count()) {
    const FloatVec s = hn::Load(d, slope + i);
    auto lower = hn::Zero(di);
    for (int level = 1; level + 1 < plan.level_count; ++level) {
      const auto is_above = hn::RebindMask(di, hn::Ge(s, hn::Set(d, plan.levels[level])));
      lower = hn::Add(lower, hn::IfThenElseZero(is_above, hn::Set(di, 1)));
    }
    const FloatVec low = hn::GatherIndex(d, plan.levels, lower);
    const FloatVec high = hn::GatherIndex(d, plan.levels, hn::Add(lower, hn::Set(di, upper)));
    const auto word = hn::ShiftRight<8>(hn::Load(UnsignedTag(), words + i));
    const FloatVec uniform = hn::Mul(hn::ConvertTo(d, hn::BitCast(di, word)), hn::Set(d, 0x1p-24f));
    const auto is_upper = hn::Lt(hn::Mul(uniform, hn::Sub(high, low)), hn::Sub(s, low));
    const auto step = hn::IfThenElseZero(hn::RebindMask(di, is_upper), hn::Set(di, upper));
    hn::StoreU(hn::DemoteTo(ByteTag(), hn::Add(lower, step)), ByteTag(), codes + i);
  }
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

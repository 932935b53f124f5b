// The codes of the unbiased form. Included once per instruction set.
#if defined(FEWBIT_ROUNDING_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_ROUNDING_INL)
#undef FEWBIT_ROUNDING_INL
#else
#define FEWBIT_ROUNDING_INL
#endif

#include "kernels/activation/cpu/encode_plan.hpp"
#include "kernels/stream/cpu/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// The words of a block that starts at element `first`, as kernels::philox gives them: one group of
/// four elements in every 64-bit lane, each word in the lower half of a lane of its own vector.
inline void philox_block(const PhiloxState& state, int64_t first, uint32_t* words) {
  const hn::Repartition<uint64_t, FloatTag> dw;
  const hn::Repartition<uint32_t, FloatTag> dh;
  const auto low_half = hn::Set(dw, 0xFFFFFFFFu);
  const auto product = [dh](hn::Vec<decltype(dw)> w, uint32_t factor) HWY_ATTR {
    return hn::MulEven(hn::BitCast(dh, w), hn::Set(dh, factor));
  };
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(dw));
  for (int64_t i = 0; i < kBlock; i += 4 * lanes) {
    const auto group = hn::Iota(dw, static_cast<uint64_t>(first + i) / 4);
    auto w0 = hn::And(group, low_half);
    auto w1 = hn::ShiftRight<32>(group);
    auto w2 = hn::Set(dw, state.offset & 0xFFFFFFFFu);
    auto w3 = hn::Set(dw, state.offset >> 32);
    uint32_t key0 = static_cast<uint32_t>(state.seed);
    uint32_t key1 = static_cast<uint32_t>(state.seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const auto product0 = product(w0, 0xD2511F53u);
      const auto product1 = product(w2, 0xCD9E8D57u);
      w0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product1), w1), hn::Set(dw, key0));
      w2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product0), w3), hn::Set(dw, key1));
      w1 = hn::And(product1, low_half);
      w3 = hn::And(product0, low_half);
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    const auto first_two = hn::Or(w0, hn::ShiftLeft<32>(w1));
    const auto last_two = hn::Or(w2, hn::ShiftLeft<32>(w3));
    hn::StoreInterleaved2(first_two, last_two, dw, reinterpret_cast<uint64_t*>(words + i));
  }
}

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

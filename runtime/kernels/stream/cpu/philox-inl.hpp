// Random words of a block of elements. Included once per instruction set.
#if defined(FEWBIT_PHILOX_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_PHILOX_INL)
#undef FEWBIT_PHILOX_INL
#else
#define FEWBIT_PHILOX_INL
#endif

#include "kernels/philox.hpp"
#include "kernels/stream/cpu/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// The words of a block that starts at element `first`, as kernels::philox gives them: one group of
/// four elements in every 64-bit lane, each word in the lower half of a lane of its own vector. The
/// upper halves hold whatever came there: products read the lower ones alone.
inline void philox_block(const PhiloxState& state, int64_t first, uint32_t* words) {
  const hn::Repartition<uint64_t, FloatTag> dw;
  const hn::Repartition<uint32_t, FloatTag> dh;
  const auto product = [dh](hn::Vec<decltype(dw)> w, uint32_t factor) HWY_ATTR {
    return hn::MulEven(hn::BitCast(dh, w), hn::Set(dh, factor));
  };
  const auto lower_of = [dw, dh](hn::Vec<decltype(dw)> low, hn::Vec<decltype(dw)> high) HWY_ATTR {
    return hn::BitCast(dw,
                       hn::OddEven(hn::BitCast(dh, hn::ShiftLeft<32>(high)), hn::BitCast(dh, low)));
  };
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(dw));
  for (int64_t i = 0; i < kBlock; i += 4 * lanes) {
    auto w0 = hn::Iota(dw, static_cast<uint64_t>(first + i) / 4);
    auto w1 = hn::ShiftRight<32>(w0);
    auto w2 = hn::Set(dw, state.offset);
    auto w3 = hn::Set(dw, state.offset >> 32);
    uint32_t key0 = static_cast<uint32_t>(state.seed);
    uint32_t key1 = static_cast<uint32_t>(state.seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const auto product0 = product(w0, 0xD2511F53u);
      const auto product1 = product(w2, 0xCD9E8D57u);
      w0 = hn::Xor3(hn::ShiftRight<32>(product1), w1, hn::Set(dw, key0));
      w2 = hn::Xor3(hn::ShiftRight<32>(product0), w3, hn::Set(dw, key1));
      w1 = product1;
      w3 = product0;
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    hn::StoreInterleaved2(lower_of(w0, w1), lower_of(w2, w3), dw,
                          reinterpret_cast<uint64_t*>(words + i));
  }
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

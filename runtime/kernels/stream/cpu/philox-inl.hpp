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

using PhiloxTag = hn::Repartition<uint64_t, FloatTag>;
using PhiloxHalfTag = hn::Repartition<uint32_t, FloatTag>;
using PhiloxVec = hn::Vec<PhiloxTag>;

/// Groups of four words, one in every 64-bit lane, each word in the lower half of a lane of its own
/// vector. The upper halves hold whatever came there: products read the lower ones alone.
struct PhiloxGroups {
  PhiloxVec w0, w1, w2, w3;

  HWY_INLINE PhiloxGroups() {}
  HWY_INLINE PhiloxGroups(uint64_t first, uint64_t offset)
      : w0(hn::Iota(PhiloxTag(), first)),
        w1(hn::ShiftRight<32>(w0)),
        w2(hn::Set(PhiloxTag(), offset)),
        w3(hn::Set(PhiloxTag(), offset >> 32)) {}

  HWY_INLINE void round(PhiloxVec key0, PhiloxVec key1) {
    const PhiloxVec product0 = product(w0, 0xD2511F53u);
    const PhiloxVec product1 = product(w2, 0xCD9E8D57u);
    w0 = hn::Xor3(hn::ShiftRight<32>(product1), w1, key0);
    w2 = hn::Xor3(hn::ShiftRight<32>(product0), w3, key1);
    w1 = product1;
    w3 = product0;
  }

  HWY_INLINE void store(uint32_t* words) const {
    hn::StoreInterleaved2(joined(w0, w1), joined(w2, w3), PhiloxTag(),
                          reinterpret_cast<uint64_t*>(words));
  }

 private:
  static HWY_INLINE PhiloxVec product(PhiloxVec w, uint32_t factor) {
    const PhiloxHalfTag dh;
    return hn::MulEven(hn::BitCast(dh, w), hn::Set(dh, factor));
  }

  static HWY_INLINE PhiloxVec joined(PhiloxVec low, PhiloxVec high) {
    const PhiloxHalfTag dh;
    return hn::BitCast(PhiloxTag(),
                       hn::OddEven(hn::BitCast(dh, hn::ShiftLeft<32>(high)), hn::BitCast(dh, low)));
  }
};

/// The words of a block that starts at element `first`, as kernels::philox gives them. As many
/// groups in turn as registers hold, for a round waits for the one before.
inline void philox_block(const PhiloxState& state, int64_t first, uint32_t* words) {
  const PhiloxTag d;
  constexpr int kWays = HWY_MAX_BYTES == 64 ? 4 : 2;
  const int64_t elements = 4 * static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < kBlock; i += kWays * elements) {
    PhiloxGroups groups[kWays];
    for (int way = 0; way < kWays; ++way) {
      const auto begin = static_cast<uint64_t>(first + i + way * elements);
      groups[way] = PhiloxGroups(state.first + begin / 4, state.offset);
    }
    uint32_t key0 = static_cast<uint32_t>(state.seed);
    uint32_t key1 = static_cast<uint32_t>(state.seed >> 32);
    for (int round = 0; round < 10; ++round) {
      for (int way = 0; way < kWays; ++way) groups[way].round(hn::Set(d, key0), hn::Set(d, key1));
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    for (int way = 0; way < kWays; ++way) groups[way].store(words + i + way * elements);
  }
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

// Codes of a trellis (generated/trellis_quantizer.hpp): the best ones for the groups of a batch, a
// group in each lane, and the levels of a group's codes. Included once per instruction set.
#if defined(FEWBIT_TRELLIS_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_TRELLIS_INL)
#undef FEWBIT_TRELLIS_INL
#else
#define FEWBIT_TRELLIS_INL
#endif

#include <algorithm>
#include <cstring>

#include "kernels/quantizer/cpu/code_tables-inl.hpp"
#include "kernels/quantizer/cpu/hadamard-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// Rows become columns.
HWY_INLINE void transpose(FloatVec* v) {
  const FloatTag d;
  const hn::RebindToUnsigned<FloatTag> du;
  const auto step = [&]<int kDistance>() HWY_ATTR {
    const auto bit = hn::And(hn::Iota(du, 0), hn::Set(du, kDistance));
    const auto is_upper = hn::RebindMask(d, hn::Ne(bit, hn::Zero(du)));
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      if ((i & kDistance) != 0) continue;
      const FloatVec low = v[i];
      const FloatVec high = v[i + kDistance];
      v[i] = hn::IfThenElse(is_upper, exchanged<kDistance>(high), low);
      v[i + kDistance] = hn::IfThenElse(is_upper, high, exchanged<kDistance>(low));
    }
  };
  if constexpr (kLanes > 8) step.template operator()<8>();
  if constexpr (kLanes > 4) step.template operator()<4>();
  step.template operator()<2>();
  step.template operator()<1>();
}

/// What each subset's best level adds to half the squared error, u^2 / 2 left out.
template <int kBits>
HWY_INLINE void subset_costs(const TrellisTable& table, FloatVec u, FloatVec* cost) {
  constexpr int kHalf = 1 << kBits;
  const FloatTag d;
#pragma GCC unroll 16
  for (int i = 0; i < kHalf; ++i) {
    const FloatVec product = hn::Mul(u, hn::Set(d, table.upper[i]));
    const FloatVec own = hn::Set(d, table.cost[i]);
    const FloatVec above = hn::Sub(own, product);  // of level kHalf + i
    const FloatVec below = hn::Add(own, product);  // of level kHalf - 1 - i
    const int upper = (kHalf + i) % kSubsets;
    const int lower = (kHalf - 1 - i) % kSubsets;
    cost[upper] = i < 2 ? above : hn::Min(cost[upper], above);
    cost[lower] = i < 2 ? below : hn::Min(cost[lower], below);
  }
}

/// The subset of the element whose bit is the lowest of `window`, the one before it next, ...
constexpr int subset_of_window(int states, int window) {
  const int u = window & 1, u1 = window >> 1 & 1, u2 = window >> 2 & 1, u3 = window >> 3 & 1;
  return states == 4 ? u1 + 2 * (u ^ u2) : u2 + 2 * (u ^ u1 ^ u3);
}

/// The best paths one element further. A state is the bits before an element, the latest lowest;
/// `decisions`: for each state the lanes in which the bit that it forgets was set.
template <int kStates>
HWY_INLINE void extend_paths(const FloatVec* cost, FloatVec* path, uint16_t* decisions) {
  constexpr int kHalf = kStates / 2;
  const FloatTag d;
  FloatVec longer[kStates];
#pragma GCC unroll 8
  for (int to = 0; to < kStates; ++to) {
    const int from = to / 2;
    const int window = from * 2 + to % 2;
    const FloatVec clear = hn::Add(path[from], cost[subset_of_window(kStates, window)]);
    const FloatVec set =
        hn::Add(path[from + kHalf], cost[subset_of_window(kStates, window + kStates)]);
    hn::StoreMaskBits(d, hn::Lt(set, clear), reinterpret_cast<uint8_t*>(decisions + to));
    longer[to] = hn::Min(clear, set);
  }
#pragma GCC unroll 8
  for (int to = 0; to < kStates; ++to) path[to] = longer[to];
}

/// In bit l of state[k]: bit k of the state in which the best path of lane l ends.
template <int kStates>
HWY_INLINE void best_ends(const FloatVec* path, uint32_t* state) {
  const FloatTag d;
  FloatVec best = path[0];
  for (int bit = 0; bit < 3; ++bit) state[bit] = 0;
  for (int end = 1; end < kStates; ++end) {
    uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, hn::Lt(path[end], best), bytes);
    const uint32_t better = bytes[0] | static_cast<uint32_t>(bytes[1]) << 8;
    for (int bit = 0; bit < 3; ++bit) {
      state[bit] = (end >> bit & 1) != 0 ? state[bit] | better : state[bit] & ~better;
    }
    best = hn::Min(best, path[end]);
  }
}

/// Lane by lane the decision of the state that its bits say.
template <int kStates>
HWY_INLINE uint32_t decision_of(const uint16_t* decisions, const uint32_t* state) {
  if constexpr (kStates == 2) {
    return (state[0] & decisions[1]) | (~state[0] & decisions[0]);
  } else {
    const uint32_t upper = state[kStates == 8 ? 2 : 1];
    return (upper & decision_of<kStates / 2>(decisions + kStates / 2, state)) |
           (~upper & decision_of<kStates / 2>(decisions, state));
  }
}

/// Elements of kLanes groups, the last ones of them repeated where there are fewer.
struct Lanes {
  const float* row[kLanes];
  FloatVec scale;
};

/// bits[t], bit l: the lowest bit of the t-th code of the group in lane l, on the path of least
/// squared error from bits that are 0. `decisions` has room for kStates times `group`.
template <int kBits, int kStates>
HWY_INLINE void best_path(const TrellisTable& table, const Lanes& lanes, int64_t group,
                          uint16_t* decisions, uint32_t* bits) {
  constexpr float kNever = 1e30f;
  const FloatTag d;
  FloatVec path[kStates];
  for (int state = 0; state < kStates; ++state)
    path[state] = hn::Set(d, state == 0 ? 0.0f : kNever);
  for (int64_t first = 0; first < group; first += kLanes) {
    FloatVec u[kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) u[i] = hn::Load(d, lanes.row[i] + first);
    transpose(u);
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      FloatVec cost[kSubsets];
      subset_costs<kBits>(table, hn::Mul(u[i], lanes.scale), cost);
      extend_paths<kStates>(cost, path, decisions + (first + i) * kStates);
    }
  }
  uint32_t state[3];
  best_ends<kStates>(path, state);
  for (int64_t t = group - 1; t >= 0; --t) {
    const uint32_t oldest = decision_of<kStates>(decisions + t * kStates, state);
    bits[t] = state[0];
    state[0] = state[1];
    state[1] = kStates == 8 ? state[2] : oldest;
    state[2] = oldest;
  }
}

/// Subsets of a vector of elements, as numbers, out of lanes' lowest bits: u of the element itself,
/// u1 of the one before it, ...
template <int kStates>
HWY_INLINE IntVec subsets_of(IntVec u, IntVec u1, IntVec u2, IntVec u3) {
  const IntTag di;
  const IntVec low = kStates == 4 ? u1 : u2;
  const IntVec high = kStates == 4 ? hn::Xor(u, u2) : hn::Xor(hn::Xor(u, u1), u3);
  return hn::Or(hn::And(low, hn::Set(di, 1)), hn::And(hn::Add(high, high), hn::Set(di, 2)));
}

/// Lane i takes lane i - kBack, the first ones the last of `before`.
template <int kBack>
HWY_INLINE IntVec moved_up(IntVec before, IntVec v) {
  const IntTag di;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return IntVec{_mm512_alignr_epi32(v.raw, before.raw, 16 - kBack)};
#else
  if constexpr (kLanes == 4) {
    return hn::CombineShiftRightLanes<4 - kBack>(di, v, before);
  } else {
    return hn::CombineShiftRightLanes<4 - kBack>(di, v, hn::ConcatLowerUpper(di, v, before));
  }
#endif
}

/// The codes of elements u that take their levels from `subset`, but for the lowest bits; u times
/// the levels.
template <int kBits>
HWY_INLINE IntVec places_in(const TrellisTable& table, FloatVec u, IntVec subset,
                            FloatVec* product) {
  const IntTag di;
  IntVec path = hn::Zero(di);
  IntVec index = subset;  // 4 path + subset
  const auto descend = [&]<int kDepth>() HWY_ATTR {
    if constexpr (kDepth < kBits - 1) {
      const FloatVec threshold = look_up<kSubsets << kDepth>(table.tree[kDepth], index);
      const auto is_above = hn::RebindMask(di, hn::Gt(u, threshold));
      path = hn::Add(path, path);
      path = hn::IfThenElse(is_above, hn::Add(path, hn::Set(di, 1)), path);
      index = hn::Or(hn::ShiftLeft<2>(path), subset);
    }
  };
  descend.template operator()<0>();
  descend.template operator()<1>();
  descend.template operator()<2>();
  *product = hn::Mul(u, look_up<(2 << kBits)>(table.levels, index));
  return path;
}

/// The codes of a vector of u whose bits are in lane `lane` of bits[0], bits[1], ...; u times their
/// levels.
template <int kBits, int kStates>
HWY_INLINE FloatVec encode_vector(const TrellisTable& table, FloatVec u, const uint32_t* bits,
                                  IntVec lane, uint8_t* codes) {
  const IntTag di;
  const auto is_set = [&](int before) HWY_ATTR {
    return hn::TestBit(hn::LoadU(di, reinterpret_cast<const int32_t*>(bits) - before), lane);
  };
  const auto own = is_set(0);
  const auto low = is_set(kStates == 4 ? 1 : 2);
  const auto high =
      kStates == 4 ? hn::Xor(own, is_set(2)) : hn::Xor(hn::Xor(own, is_set(1)), is_set(3));
  const IntVec subset =
      hn::Or(hn::IfThenElseZero(low, hn::Set(di, 1)), hn::IfThenElseZero(high, hn::Set(di, 2)));
  FloatVec product;
  const IntVec place = places_in<kBits>(table, u, subset, &product);
  const IntVec code = hn::Or(hn::Add(place, place), hn::IfThenElseZero(own, hn::Set(di, 1)));
  hn::StoreU(hn::TruncateTo(ByteTag(), hn::BitCast(UnsignedTag(), code)), ByteTag(), codes);
  return product;
}

/// CodeStages::encode, the codes of a group together.
template <int kBits, int kStates>
void encode_trellis(const CodeTables& tables, const GroupBatch& batch, uint8_t* codes) {
  const FloatTag d;
  const TrellisTable& table = tables.trellis;
  const int64_t group = batch.group;
  const int64_t half = group / 2;
  alignas(64) float scales[kLanes];
  uint16_t decisions[kMostRotated * kStates] = {};
  uint32_t bits[kBefore + kMostRotated] = {};
  for (int64_t first = 0; first < batch.groups; first += kLanes) {
    Lanes lanes;
    const int64_t count = std::min<int64_t>(kLanes, batch.groups - first);
    for (int64_t i = 0; i < kLanes; ++i) {
      const int64_t j = first + std::min(i, count - 1);
      lanes.row[i] = batch.y + j * group;
      scales[i] = batch.inverse[j];
    }
    lanes.scale = hn::Load(d, scales);
    best_path<kBits, kStates>(table, lanes, group, decisions, bits + kBefore);
    for (int64_t i = 0; i < count; ++i) {
      float* y = batch.y + (first + i) * group;
      uint8_t* to = codes + (first + i) * group;
      const FloatVec scale = hn::Set(d, scales[i]);
      const IntVec lane = hn::Set(IntTag(), 1 << i);
      const auto encode = [&](int64_t t) HWY_ATTR {
        return encode_vector<kBits, kStates>(table, hn::Mul(hn::Load(d, y + t), scale),
                                             bits + kBefore + t, lane, to + t);
      };
      for (int64_t t = 0; t < half; t += kLanes) {
        hn::Store(hn::Add(encode(t), encode(t + half)), d, y + t);
      }
    }
  }
}

/// CodeStages::decode.
template <int kBits, int kStates>
void decode_trellis(const CodeTables& tables, const uint8_t* codes, int64_t group, float* q) {
  const FloatTag d;
  IntVec before = hn::Zero(IntTag());
  for (int64_t i = 0; i < group; i += kLanes) {
    const IntVec code =
        unpack(tables.unpack, codes + i / 16 * 2 * kBits, static_cast<size_t>(i % 16));
    const IntVec subset = subsets_of<kStates>(code, moved_up<1>(before, code),
                                              moved_up<2>(before, code), moved_up<3>(before, code));
    const IntVec place = hn::ShiftLeft<2>(hn::ShiftRight<1>(code));
    hn::Store(look_up<(2 << kBits)>(tables.trellis.levels, hn::Or(place, subset)), d, q + i);
    before = code;
  }
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

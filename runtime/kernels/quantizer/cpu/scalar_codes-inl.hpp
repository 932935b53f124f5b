// Codes of which each is the nearest level of the best table for N(0, 1). Included once per
// instruction set.
#if defined(FEWBIT_SCALAR_CODES_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_SCALAR_CODES_INL)
#undef FEWBIT_SCALAR_CODES_INL
#else
#define FEWBIT_SCALAR_CODES_INL
#endif

#include "kernels/quantizer/cpu/code_tables-inl.hpp"
#include "kernels/quantizer/cpu/hadamard-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

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

/// CodeStages::encode, each element for itself.
template <int kBits>
void encode_scalar(const CodeTables& tables, const GroupBatch& batch, uint8_t* codes) {
  const FloatTag d;
  const Magnitudes<kBits> table(tables.magnitudes);
  const int64_t half = batch.group / 2;
  for (int64_t j = 0; j < batch.groups; ++j, codes += batch.group) {
    float* y = batch.y + j * batch.group;
    const FloatVec scale = hn::Set(d, batch.inverse[j]);
    for (int64_t i = 0; i < half; i += kLanes) {
      const FloatVec low = hn::Mul(hn::Load(d, y + i), scale);
      const FloatVec high = hn::Mul(hn::Load(d, y + half + i), scale);
      hn::Store(hn::Add(quantize_vector(table, low, codes + i),
                        quantize_vector(table, high, codes + half + i)),
                d, y + i);
    }
  }
}

/// CodeStages::decode.
template <int kBits>
void decode_scalar(const CodeTables& tables, const uint8_t* codes, int64_t group, float* q) {
  const FloatTag d;
  const Magnitudes<kBits> table(tables.magnitudes);
  for (int64_t i = 0; i < group; i += kLanes) {
    const IntVec code =
        unpack(tables.unpack, codes + i / 16 * 2 * kBits, static_cast<size_t>(i % 16));
    hn::Store(table.level_of_code(code), d, q + i);
  }
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

// Codes to and from the bit stream. Included once per instruction set.
#if defined(FEWBIT_BITS_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_BITS_INL)
#undef FEWBIT_BITS_INL
#else
#define FEWBIT_BITS_INL
#endif

#include <bit>
#include <cstring>

#include "kernels/stream/cpu/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

static_assert(std::endian::native == std::endian::little);

/// Bytes of the stream that a block owns, and of a buffer for them that stages may touch.
constexpr int64_t block_bytes(int bits) {
  return kBlock / 8 * bits;
}
inline constexpr int64_t kBitsBuffer = kBlock + 16;

/// Eight codes, one a byte, moved together: `bits` each from the lowest on.
inline uint64_t gather_bits(uint64_t word, int bits) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86_64
  return _pext_u64(word, 0x0101010101010101u * ((1u << bits) - 1));
#else
  const uint64_t byte = (uint64_t{1} << bits) - 1;
  const uint64_t pair = (uint64_t{1} << 2 * bits) - 1;
  const uint64_t quad = (uint64_t{1} << 4 * bits) - 1;
  word = (word & 0x0001000100010001u * byte) |
         (word >> (8 - bits) & 0x0001000100010001u * (byte << bits));
  word = (word & 0x0000000100000001u * pair) |
         (word >> (16 - 2 * bits) & 0x0000000100000001u * (pair << 2 * bits));
  return (word & quad) | (word >> (32 - 4 * bits) & quad << 4 * bits);
#endif
}

/// Back: eight codes of 1 to 8 bits from the lowest on, one a byte. Without _pdep_u64, which takes
/// hundreds of cycles on some processors.
inline uint64_t spread_bits(uint64_t word, int bits) {
  const uint64_t byte = (uint64_t{1} << bits) - 1;
  const uint64_t pair = (uint64_t{1} << 2 * bits) - 1;
  const uint64_t quad = (uint64_t{1} << 4 * bits) - 1;
  word = (word & quad) | (word >> 4 * bits & quad) << 32;
  word = (word & 0x0000000100000001u * pair) | (word >> 2 * bits & 0x0000000100000001u * pair)
                                                   << 16;
  return (word & 0x0001000100010001u * byte) | (word >> bits & 0x0001000100010001u * byte) << 8;
}

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// Thirty-two codes of a width that divides eight.
HWY_INLINE void pack_32(const uint8_t* codes, int bits, uint8_t* stream) {
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes));
  if (bits == 1) {
    const uint32_t word = _mm256_test_epi8_mask(bytes, bytes);
    std::memcpy(stream, &word, 4);
  } else if (bits == 2) {
    // Neighbours together: two in a word of 16 bits, then four in one of 32.
    const __m256i pairs = _mm256_maddubs_epi16(bytes, _mm256_set1_epi16(0x0401));
    const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00100001));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(stream), _mm256_cvtepi32_epi8(fours));
  } else if (bits == 4) {
    const __m256i pairs = _mm256_maddubs_epi16(bytes, _mm256_set1_epi16(0x1001));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(stream), _mm256_cvtepi16_epi8(pairs));
  } else {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(stream), bytes);
  }
}
#endif

/// Packs `count` codes, a multiple of 32. Writes up to 7 bytes beyond their own, which whatever
/// follows them overwrites.
HWY_INLINE void pack(const uint8_t* codes, int64_t count, int bits, uint8_t* stream) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if ((bits & (bits - 1)) == 0) {
    for (int64_t i = 0; i < count; i += 32) pack_32(codes + i, bits, stream + i / 8 * bits);
    return;
  }
#endif
  for (int64_t i = 0; i < count; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, codes + i, 8);
    word = gather_bits(word, bits);
    std::memcpy(stream, &word, 8);
    stream += bits;
  }
}

#if !(HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86)
/// Lanes with the bits first, first + 1, ... of a stream on top.
HWY_INLINE FloatVec bits_on_top(const uint8_t* stream, int64_t first) {
  alignas(64) static constexpr uint32_t kAbove[32] = {31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21,
                                                      20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10,
                                                      9,  8,  7,  6,  5,  4,  3,  2,  1,  0};
  uint32_t word = 0;
  std::memcpy(&word, stream + first / 32 * 4, 4);
  const UnsignedTag du;
  return hn::BitCast(FloatTag(), hn::Shl(hn::Set(du, word), hn::Load(du, kAbove + first % 32)));
}
#endif

/// yes where those bits are set, else no.
HWY_INLINE FloatVec chosen(const uint8_t* stream, int64_t first, FloatVec yes, FloatVec no) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return hn::IfThenElse(hn::LoadMaskBits(FloatTag(), stream + first / 8), yes, no);
#else
  return hn::IfNegativeThenElse(bits_on_top(stream, first), yes, no);
#endif
}

/// Where the codes of 16 elements lie within 16 bytes from their first: for each the two bytes that
/// hold it (and two zero bytes), and the shift that brings it down.
struct UnpackPlan {
  HWY_ALIGN uint8_t byte[64];
  HWY_ALIGN uint32_t shift[16];
  uint32_t mask;

  explicit UnpackPlan(int bits) : mask((1u << bits) - 1) {
    for (int i = 0; i < 16; ++i) {
      const int first = i * bits / 8;
      const uint8_t second = static_cast<uint8_t>(first + 1 < 16 ? first + 1 : 0x80);
      byte[4 * i] = static_cast<uint8_t>(first);
      byte[4 * i + 1] = second;
      byte[4 * i + 2] = byte[4 * i + 3] = 0x80;
      shift[i] = static_cast<uint32_t>(i * bits % 8);
    }
  }
};

/// The codes of the lanes from `lane` on, out of the 16 bytes that the group starts with.
HWY_INLINE hn::Vec<IntTag> unpack(const UnpackPlan& plan, const uint8_t* group, size_t lane) {
  const UnsignedTag du;
  const hn::Repartition<uint8_t, UnsignedTag> db;
  const auto bytes =
      hn::TableLookupBytesOr0(hn::LoadDup128(db, group), hn::Load(db, plan.byte + 4 * lane));
  const auto words = hn::Shr(hn::BitCast(du, bytes), hn::Load(du, plan.shift + lane));
  return hn::BitCast(IntTag(), hn::And(words, hn::Set(du, plan.mask)));
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

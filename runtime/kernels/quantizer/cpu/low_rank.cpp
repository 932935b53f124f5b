#include "kernels/quantizer/low_rank.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/floating_point_mode.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantizer/cpu/low_rank.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/stream/cpu/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

inline constexpr int kLanes = static_cast<int>(hn::MaxLanes(FloatTag()));
inline constexpr int kVectors = kDotSums / kLanes;

/// Directions whose sums are in registers at the same time, and rows for which they are: as many as
/// there are registers for.
inline constexpr int kAtOnce = 4;
inline constexpr int kRowsAtOnce = kVectors == 1 ? 4 : 1;

/// Sums of 16 products for each of the rows and directions.
struct Sums {
  FloatVec of[kRowsAtOnce][kAtOnce][kVectors];

  HWY_INLINE Sums() {
    for (auto& row : of) {
      for (auto& vectors : row) {
        for (FloatVec& sum : vectors) sum = hn::Zero(FloatTag());
      }
    }
  }
};

/// The same in memory, where their numbers may be found at run time.
struct StoredSums {
  float of[kRowsAtOnce][kAtOnce][kDotSums];

  HWY_INLINE explicit StoredSums(const Sums& sums) {
    for (int row = 0; row < kRowsAtOnce; ++row) {
      for (int j = 0; j < kAtOnce; ++j) {
        for (int v = 0; v < kVectors; ++v) {
          hn::StoreU(sums.of[row][j][v], FloatTag(), of[row][j] + v * kLanes);
        }
      }
    }
  }
};

/// Sixteen floats of each row; beyond the last of them that one's again.
struct RowPointers {
  const float* of[kRowsAtOnce];
};

/// factors(j, v): what the floats at `first` of each row are multiplied by.
template <class Factors>
HWY_INLINE void add_products(const RowPointers& rows, int64_t first, const Factors& factors,
                             Sums& sums) {
  for (int v = 0; v < kVectors; ++v) {
    FloatVec by[kAtOnce];
    for (int j = 0; j < kAtOnce; ++j) by[j] = factors(j, v);
    for (int row = 0; row < kRowsAtOnce; ++row) {
      const FloatVec elements = hn::LoadU(FloatTag(), rows.of[row] + first + v * kLanes);
      for (int j = 0; j < kAtOnce; ++j) {
        sums.of[row][j][v] = fused_multiply_add(elements, by[j], sums.of[row][j][v]);
      }
    }
  }
}

float finite(float value) {
  return std::isfinite(value) ? value : 0.0f;
}

float total(float* sums) {
  for (int distance = kDotSums / 2; distance > 0; distance /= 2) {
    for (int i = 0; i < distance; ++i) sums[i] += sums[i + distance];
  }
  return finite(sums[0]);
}

/// Floats of a type, zeros behind them up to a multiple of 16.
template <ElementType kType>
void load_padded(const typename Element<kType>::Stored* from, int64_t count, float* to) {
  using E = Element<kType>;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) hn::StoreU(E::load(from + i), FloatTag(), to + i);
  if (i == count) {
    std::fill(to + count, to + (count + kDotSums - 1) / kDotSums * kDotSums, 0.0f);
    return;
  }
  typename E::Stored rest[kDotSums] = {};
  std::copy(from + i, from + count, rest);
  const int64_t end = (count + kDotSums - 1) / kDotSums * kDotSums;
  for (int64_t j = 0; i + j < end; j += kLanes) {
    hn::StoreU(E::load(rest + j), FloatTag(), to + i + j);
  }
}

/// Passes over a run's rows.
template <ElementType kType>
class Projection {
 public:
  using Stored = typename Element<kType>::Stored;

  Projection(const void* x, const Directions& directions, float* coefficients)
      : x_(static_cast<const Stored*>(x)),
        of_(directions),
        coefficients_(coefficients),
        length_(directions.place.inner == 1 ? directions.stride
                                            : directions.place.channels * kDotSums),
        floats_(static_cast<size_t>(length_ * kRowsAtOnce)) {}

  /// Of adjacent channels, up to kRowsAtOnce rows.
  void run_rows(int64_t row, int count) {
    const int64_t channels = of_.place.channels;
    // Of floats the end alone, which may want zeros.
    const int64_t whole = kIsFloat ? channels / kDotSums * kDotSums : int64_t{0};
    RowPointers here, padded;
    for (int r = 0; r < kRowsAtOnce; ++r) {
      const int known = std::min(r, count - 1);
      const Stored* const from = x_ + (row + known) * channels;
      padded.of[r] = floats_.data() + known * length_;
      if constexpr (kIsFloat) here.of[r] = from;
      if (r == known) load_padded<kType>(from + whole, channels - whole, floats_of(r) + whole);
    }
    for (int first = 0; first < of_.count; first += kAtOnce) {
      const Rows basis = rows_from(first);
      Sums sums;
      const auto add = [&](const RowPointers& rows, int64_t c) HWY_ATTR {
        add_products(
            rows, c,
            [&](int j, int v)
                HWY_ATTR { return hn::LoadU(FloatTag(), basis.of[j] + c + v * kLanes); },
            sums);
      };
      if constexpr (kIsFloat) {
        for (int64_t c = 0; c < whole; c += kDotSums) {
          // Several rows at a time are no stream that a processor foresees.
          for (const float* one : here.of) {
            if (first == 0) hwy::Prefetch(one + c + kRowsAtOnce * channels);
          }
          add(here, c);
        }
      }
      for (int64_t c = whole; c < of_.stride; c += kDotSums) add(padded, c);
      StoredSums stored(sums);
      for (int r = 0; r < count; ++r) {
        for (int j = 0; j < std::min(kAtOnce, of_.count - first); ++j) {
          coefficients_[(row + r) * of_.count + first + j] = total(stored.of[r][j]);
        }
      }
    }
  }

  /// Of up to 16 places of a block in each of `count` pieces.
  void run_places(int64_t block, int64_t piece, int count) {
    const auto [channels, inner] = of_.place;
    const int64_t begin = piece * kDotSums;
    const Stored* const from = x_ + block * channels * inner + begin;
    const bool is_there = kIsFloat && begin + count * kDotSums <= inner;
    RowPointers rows;
    for (int r = 0; r < kRowsAtOnce; ++r) {
      const int known = std::min(r, count - 1);
      rows.of[r] = floats_.data() + known * length_;
      if constexpr (kIsFloat) {
        if (is_there) rows.of[r] = from + known * kDotSums;
      }
      for (int64_t c = 0; r == known && !is_there && c < channels; ++c) {
        const int64_t first = r * kDotSums;
        load_padded<kType>(from + c * inner + first,
                           std::min<int64_t>(inner - begin - first, kDotSums),
                           floats_of(r) + c * kDotSums);
      }
    }
    const int64_t step = is_there ? inner : int64_t{kDotSums};
    for (int first = 0; first < of_.count; first += kAtOnce) {
      const Rows basis = rows_from(first);
      Sums sums;
      for (int64_t c = 0; c < channels; ++c) {
        add_products(
            rows, c * step,
            [&](int j, int) HWY_ATTR { return hn::Set(FloatTag(), basis.of[j][c]); }, sums);
      }
      const StoredSums stored(sums);
      for (int r = 0; r < count; ++r) {
        const int64_t places = std::min<int64_t>(inner - begin - r * kDotSums, kDotSums);
        for (int j = 0; j < std::min(kAtOnce, of_.count - first); ++j) {
          const float* const lanes = stored.of[r][j];
          float* const to = coefficients_ + (block * of_.count + first + j) * inner + begin;
          std::transform(lanes, lanes + places, to + r * kDotSums, finite);
        }
      }
    }
  }

 private:
  static constexpr bool kIsFloat = kType == ElementType::f32;

  /// The basis of four directions, beyond the last that one again.
  struct Rows {
    const float* of[kAtOnce];
  };
  Rows rows_from(int first) const {
    Rows rows;
    for (int j = 0; j < kAtOnce; ++j) {
      rows.of[j] = of_.basis + std::min(first + j, of_.count - 1) * of_.stride;
    }
    return rows;
  }
  float* floats_of(int row) { return floats_.data() + row * length_; }

  const Stored* x_;
  const Directions& of_;
  float* coefficients_;
  int64_t length_;             ///< of the floats of a row
  std::vector<float> floats_;  ///< [rows, stride], or [rows, channels, 16]
};

template <ElementType kType>
void project(const void* x, const Directions& directions, float* coefficients, int64_t begin,
             int64_t end) {
  Projection<kType> projection(x, directions, coefficients);
  const int64_t pieces = project_pieces(directions.place.inner);
  for (int64_t row = begin; row < end;) {
    const bool is_row = directions.place.inner == 1;
    const int64_t left = is_row ? end - row : std::min(end - row, pieces - row % pieces);
    const int count = static_cast<int>(std::min<int64_t>(left, kRowsAtOnce));
    if (is_row) {
      projection.run_rows(row, count);
    } else {
      projection.run_places(row / pieces, row % pieces, count);
    }
    row += count;
  }
}

void run_low_rank_project(ElementType type, const void* x, const Directions& directions,
                          float* coefficients, int64_t begin, int64_t end) {
  const auto pass = type == ElementType::bf16  ? project<ElementType::bf16>
                    : type == ElementType::f16 ? project<ElementType::f16>
                                               : project<ElementType::f32>;
  pass(x, directions, coefficients, begin, end);
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fewbit::kernels {

HWY_EXPORT(run_low_rank_project);

void low_rank_project(ElementType type, const void* x, const Directions& directions,
                      float* coefficients, int64_t begin, int64_t end) {
  const DefaultFloatingPoint arithmetic;
  HWY_DYNAMIC_DISPATCH(run_low_rank_project)(type, x, directions, coefficients, begin, end);
}

}  // namespace fewbit::kernels
#endif

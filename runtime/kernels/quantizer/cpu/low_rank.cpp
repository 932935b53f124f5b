#include "kernels/quantizer/low_rank.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/floating_point_mode.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantizer/cpu/low_rank.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/stream/cpu/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// Directions whose sums are in registers at the same time.
inline constexpr int kAtOnce = 4;
inline constexpr int kLanes = static_cast<int>(hn::MaxLanes(FloatTag()));
inline constexpr int kVectors = kDotSums / kLanes;

/// Sums of 16 products for each of four directions.
struct Sums {
  FloatVec of[kAtOnce][kVectors];

  HWY_INLINE Sums() {
    for (auto& vectors : of) {
      for (FloatVec& sum : vectors) sum = hn::Zero(FloatTag());
    }
  }
  HWY_INLINE void store(int j, float* to) const {
    for (int v = 0; v < kVectors; ++v) hn::StoreU(of[j][v], FloatTag(), to + v * kLanes);
  }
};

/// x: 16 floats. factors(j, v): what they are multiplied by.
template <class Factors>
HWY_INLINE void add_products(const float* x, const Factors& factors, Sums& sums) {
  for (int v = 0; v < kVectors; ++v) {
    const FloatVec elements = hn::LoadU(FloatTag(), x + v * kLanes);
    for (int j = 0; j < kAtOnce; ++j) {
      sums.of[j][v] = fused_multiply_add(elements, factors(j, v), sums.of[j][v]);
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
        floats_(static_cast<size_t>(directions.place.inner == 1
                                        ? directions.stride
                                        : directions.place.channels * kDotSums)) {}

  /// Of adjacent channels.
  void run_row(int64_t row) {
    const int64_t channels = of_.place.channels;
    const Stored* const from = x_ + row * channels;
    // Of floats the end alone, which may want zeros.
    const int64_t whole = kType == ElementType::f32 ? channels / kDotSums * kDotSums : int64_t{0};
    load_padded<kType>(from + whole, channels - whole, floats_.data() + whole);
    for (int first = 0; first < of_.count; first += kAtOnce) {
      const Rows basis = rows_from(first);
      Sums sums;
      const auto add = [&](const float* x, int64_t c) HWY_ATTR {
        add_products(
            x,
            [&](int j, int v)
                HWY_ATTR { return hn::LoadU(FloatTag(), basis.of[j] + c + v * kLanes); },
            sums);
      };
      if constexpr (kType == ElementType::f32) {
        for (int64_t c = 0; c < whole; c += kDotSums) add(from + c, c);
      }
      for (int64_t c = whole; c < of_.stride; c += kDotSums) add(floats_.data() + c, c);
      for (int j = 0; j < std::min(kAtOnce, of_.count - first); ++j) {
        float lanes[kDotSums];
        sums.store(j, lanes);
        coefficients_[row * of_.count + first + j] = total(lanes);
      }
    }
  }

  /// Of up to 16 places of a block.
  void run_places(int64_t block, int64_t piece) {
    const auto [channels, inner] = of_.place;
    const int64_t begin = piece * kDotSums;
    const int64_t count = std::min<int64_t>(inner - begin, kDotSums);
    for (int64_t c = 0; c < channels; ++c) {
      load_padded<kType>(x_ + (block * channels + c) * inner + begin, count,
                         floats_.data() + c * kDotSums);
    }
    for (int first = 0; first < of_.count; first += kAtOnce) {
      const Rows basis = rows_from(first);
      Sums sums;
      for (int64_t c = 0; c < channels; ++c) {
        add_products(
            floats_.data() + c * kDotSums,
            [&](int j, int) HWY_ATTR { return hn::Set(FloatTag(), basis.of[j][c]); }, sums);
      }
      for (int j = 0; j < std::min(kAtOnce, of_.count - first); ++j) {
        float lanes[kDotSums];
        sums.store(j, lanes);
        float* const to = coefficients_ + (block * of_.count + first + j) * inner + begin;
        std::transform(lanes, lanes + count, to, finite);
      }
    }
  }

 private:
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

  const Stored* x_;
  const Directions& of_;
  float* coefficients_;
  std::vector<float> floats_;  ///< of a row, or [channels, 16]
};

template <ElementType kType>
void project(const void* x, const Directions& directions, float* coefficients, int64_t begin,
             int64_t end) {
  Projection<kType> projection(x, directions, coefficients);
  const int64_t pieces = project_pieces(directions.place.inner);
  for (int64_t row = begin; row < end; ++row) {
    if (directions.place.inner == 1) {
      projection.run_row(row);
    } else {
      projection.run_places(row / pieces, row % pieces);
    }
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

#include "kernels/quantizer/extremes.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

#include "kernels/floating_point_mode.hpp"
#include "kernels/quantizer/cpu/wide_element.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantizer/cpu/extremes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/stream/cpu/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// Neighbourhoods that are looked at in turn, so that none waits for itself.
inline constexpr int kTogether = 4;
using FourTag = hn::CappedTag<float, kTogether>;
using FourVec = hn::Vec<FourTag>;

template <ElementType kType>
struct Floats : Element<kType> {};

template <>
struct Floats<ElementType::f64> {
  using Stored = double;
  static HWY_INLINE FloatVec load(const double* from) {
    using HalfFloats = hn::Half<FloatTag>;
    using Doubles = hn::Rebind<double, HalfFloats>;
    const auto half = [&](int64_t i) HWY_ATTR {
      return hn::DemoteTo(HalfFloats(), hn::LoadU(Doubles(), from + i));
    };
    return hn::Combine(FloatTag(), half(lane_count() / 2), half(0));
  }
};

/// Lane i is the join of all lanes of v[i].
template <class Join>
HWY_INLINE FourVec joined(const FloatVec (&v)[kTogether], const Join& join) {
  const FloatTag d;
  const auto pair = [&](FloatVec low, FloatVec high) HWY_ATTR {
    return join(hn::InterleaveLower(d, low, high), hn::InterleaveUpper(d, low, high));
  };
  const FloatVec all = pair(pair(v[0], v[2]), pair(v[1], v[3]));
  alignas(64) float lanes[hn::MaxLanes(FloatTag())];
  hn::Store(all, d, lanes);
  FourVec result = hn::Load(FourTag(), lanes);
  for (int64_t i = kTogether; i < lane_count(); i += kTogether) {
    result = join(result, hn::Load(FourTag(), lanes + i));
  }
  return result;
}

/// What is known of neighbourhoods: of their elements less about their mean, lest squares cancel.
struct Moments {
  FloatVec sum[kTogether], squares[kTogether], greatest[kTogether];
};

/// The greatest size is looked for among integers, for which there are more units than for floats.
template <class E>
HWY_INLINE void take_moments(const typename E::Stored* x, FloatVec center, FloatVec& sum,
                             FloatVec& squares, FloatVec& greatest) {
  const FloatTag d;
  const UnsignedTag du;
  // Two of each, so that none waits for itself.
  FloatVec total = hn::Zero(d), total2 = total, energy = total, energy2 = total;
  auto size = hn::Zero(du), size2 = size;
#pragma GCC unroll 4
  for (int64_t i = 0; i < kNeighbours; i += 2 * lane_count()) {
    const FloatVec v = hn::Sub(E::load(x + i), center);
    const FloatVec w = hn::Sub(E::load(x + i + lane_count()), center);
    total = hn::Add(total, v);
    total2 = hn::Add(total2, w);
    energy = hn::MulAdd(v, v, energy);
    energy2 = hn::MulAdd(w, w, energy2);
    size = hn::Max(size, hn::BitCast(du, hn::Abs(v)));
    size2 = hn::Max(size2, hn::BitCast(du, hn::Abs(w)));
  }
  sum = hn::Add(total, total2);
  squares = hn::Add(energy, energy2);
  greatest = hn::BitCast(d, hn::Max(size, size2));
}

/// Bit i is set where an element of neighbourhood i may hold more than an eighth of the energy
/// about the mean. Some more are, for sums are rounded, and sizes are not about the mean.
HWY_INLINE int suspects_among(const Moments& of) {
  const FourTag d;
  const auto add = [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); };
  const FourVec sum = joined(of.sum, add);
  const FourVec squares = joined(of.squares, add);
  const FourVec greatest =
      joined(of.greatest, [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); });
  const FourVec mean = hn::Mul(sum, hn::Set(d, 1.0f / kNeighbours));
  const FourVec energy = hn::Sub(squares, hn::Mul(sum, mean));
  const FourVec furthest = hn::Add(greatest, hn::Abs(mean));
  const FourVec eight = hn::Mul(hn::Mul(furthest, furthest), hn::Set(d, 8.01f));
  // Where squares have not cancelled and are in the range of floats.
  const auto is_usual =
      hn::And(hn::And(hn::Gt(energy, hn::Set(d, 0x1p-80f)), hn::Lt(energy, hn::Set(d, 0x1p80f))),
              hn::Gt(energy, hn::Mul(squares, hn::Set(d, 0x1p-7f))));
  const auto is_plain = hn::And(is_usual, hn::Le(eight, energy));
  uint8_t bits[8] = {};
  hn::StoreMaskBits(d, hn::Or(is_plain, hn::Eq(greatest, hn::Zero(d))), bits);
  return ~bits[0] & ((1 << kTogether) - 1);
}

/// The means of the first elements of neighbourhoods, but of a single number that number.
template <class E, class At>
HWY_INLINE FourVec centers_of(const At& at) {
  const FloatVec first[kTogether] = {E::load(at(0)), E::load(at(1)), E::load(at(2)),
                                     E::load(at(3))};
  const auto add = [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); };
  const FourTag d;
  const auto share = hn::Set(d, 1.0f / static_cast<float>(lane_count()));
  return hn::Mul(joined(first, add), share);
}

template <ElementType kType>
void find_suspects(const void* x, int64_t begin, int64_t end, std::vector<int64_t>& found) {
  using E = Floats<kType>;
  const auto* from = static_cast<const typename E::Stored*>(x);
  for (int64_t i = begin; i < end; i += kTogether) {
    const auto at = [&](int64_t j) { return from + std::min(i + j, end - 1) * kNeighbours; };
    alignas(16) float center[kTogether];
    hn::Store(centers_of<E>(at), FourTag(), center);
    Moments of;
    for (int j = 0; j < kTogether; ++j) {
      take_moments<E>(at(j), hn::Set(FloatTag(), center[j]), of.sum[j], of.squares[j],
                      of.greatest[j]);
    }
    const int suspects = suspects_among(of);
    if (suspects == 0) continue;
    for (int j = 0; j < kTogether; ++j) {
      if (i + j < end && (suspects >> j & 1) != 0) found.push_back(i + j);
    }
  }
}

void run_suspects(ElementType type, const void* x, int64_t begin, int64_t end,
                  std::vector<int64_t>& found) {
  switch (type) {
    case ElementType::f32:
      return find_suspects<ElementType::f32>(x, begin, end, found);
    case ElementType::bf16:
      return find_suspects<ElementType::bf16>(x, begin, end, found);
    case ElementType::f16:
      return find_suspects<ElementType::f16>(x, begin, end, found);
    default:
      return find_suspects<ElementType::f64>(x, begin, end, found);
  }
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fewbit::kernels {

HWY_EXPORT(run_suspects);

namespace {

/// Neighbours as doubles.
struct Neighbours {
  double x[2 * kNeighbours];
  int count;

  /// Of a run's elements from `first` on.
  Neighbours(ElementType type, const void* run, int64_t first, int64_t elements)
      : count(static_cast<int>(elements)) {
    if (type == ElementType::f32) {
      float floats[2 * kNeighbours];
      const auto size = static_cast<size_t>(count) * sizeof(float);
      std::memcpy(floats, static_cast<const uint8_t*>(run) + first * sizeof(float), size);
      std::copy_n(floats, count, x);
    } else {
      for (int i = 0; i < count; ++i) x[i] = wide_element(type, run, first + i);
    }
  }

  double mean() const {
    return of_all(
               0.0, [](double sum, double v) { return sum + v; }, std::plus()) /
           count;
  }

  double energy(double mean) const {
    const auto add = [mean](double sum, double v) { return sum + (v - mean) * (v - mean); };
    return of_all(0.0, add, std::plus());
  }

  /// Scaled by a power of two where squares might leave the range of doubles; the exponent, or
  /// nothing where one is not finite or so many are 0 that those are what there is to lose.
  std::optional<int> scale() {
    constexpr int kUsual = 400;
    const auto spoil = [](double zero, double v) { return zero + 0.0 * v; };
    if (of_all(0.0, spoil, std::plus()) != 0.0) return std::nullopt;
    const double most = furthest_from(0.0);
    const auto count_in = [](double others, double v) { return others + (v != 0.0 ? 1.0 : 0.0); };
    if (4.0 * of_all(0.0, count_in, std::plus()) < count) return std::nullopt;
    const int exponent = std::ilogb(most);
    if (exponent > -kUsual && exponent < kUsual) return 0;
    for (int i = 0; i < count; ++i) x[i] = std::ldexp(x[i], -exponent);
    return exponent;
  }

  double furthest_from(double mean) const {
    const auto join = [](double most, double v) { return v > most ? v : most; };
    const auto take = [&](double most, double v) { return join(most, std::fabs(v - mean)); };
    return of_all(0.0, take, join);
  }

  int at_distance(double distance, double mean) const {
    int i = 0;
    while (std::fabs(x[i] - mean) != distance) ++i;
    return i;
  }

 private:
  /// In lanes, so that none waits for the one before.
  template <class Take, class Join>
  double of_all(double first, const Take& take, const Join& join) const {
    constexpr int kLanes = 8;
    double lanes[kLanes];
    std::fill_n(lanes, kLanes, first);
    const int whole = count / kLanes * kLanes;
    for (int i = 0; i < whole; i += kLanes) {
      for (int j = 0; j < kLanes; ++j) lanes[j] = take(lanes[j], x[i + j]);
    }
    for (int i = whole; i < count; ++i) lanes[0] = take(lanes[0], x[i]);
    double all = lanes[0];
    for (int j = 1; j < kLanes; ++j) all = join(all, lanes[j]);
    return all;
  }
};

/// Adds those of elements [first, first + count).
void add_extremes(ElementType type, const void* x, int64_t first, int64_t count,
                  std::vector<Extreme>& found) {
  Neighbours rest(type, x, first, count);
  int place[2 * kNeighbours];
  std::iota(place, place + rest.count, 0);
  const std::optional<int> exponent = rest.scale();
  if (!exponent) return;
  double mean = rest.mean();
  double energy = rest.energy(mean);
  const double all = energy;
  int extremes[kMostExtremes];
  int taken = 0;
  while (true) {
    const double distance = rest.furthest_from(mean);
    if (8.0 * distance * distance <= energy) break;
    if (taken == kMostExtremes) return;
    const int i = rest.at_distance(distance, mean);
    extremes[taken++] = place[i];
    --rest.count;
    std::swap(rest.x[i], rest.x[rest.count]);
    std::swap(place[i], place[rest.count]);
    mean = rest.mean();
    energy = rest.energy(mean);
  }
  if (taken == 0 || 2.0 * energy > all) return;
  std::sort(extremes, extremes + taken);
  for (int i = 0; i < taken; ++i) {
    found.push_back({first + extremes[i], std::ldexp(mean, *exponent)});
  }
}

}  // namespace

void find_extremes(ElementType type, const void* x, int64_t count, int64_t begin, int64_t end,
                   std::vector<Extreme>& found) {
  const DefaultFloatingPoint arithmetic;
  const int64_t last = neighbourhoods(count) - 1;
  const bool ends_in_more = end > last && count != (last + 1) * kNeighbours;
  std::vector<int64_t> suspects;
  HWY_DYNAMIC_DISPATCH(run_suspects)(type, x, begin, ends_in_more ? last : end, suspects);
  for (const int64_t i : suspects) {
    add_extremes(type, x, i * kNeighbours, kNeighbours, found);
  }
  if (ends_in_more && begin <= last) {
    add_extremes(type, x, last * kNeighbours, count - last * kNeighbours, found);
  }
}

}  // namespace fewbit::kernels
#endif

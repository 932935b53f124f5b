#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "kernels/activation/cuda/arguments.hpp"
#include "kernels/stream/cuda/stream.hpp"
#include "tests/kernels/support.hpp"

/// The CUDA kernels' own functions run on the host, lane after lane, step after step: what a warp
/// does between two synchronisations.
namespace fewbit::kernels::cuda {

using Bytes = std::vector<uint8_t>;

inline int64_t count_of(const Bytes& bytes, ElementType type) {
  return static_cast<int64_t>(bytes.size()) / element_bytes(type);
}

/// Vector v of a lane, for elements from `begin` on.
inline Vector vector_at(const Bytes& bytes, ElementType type, int64_t begin, int lane, int v) {
  Vector vector;
  std::memcpy(&vector, bytes.data() + begin * element_bytes(type) + 16 * vector_place(lane, v), 16);
  return vector;
}

/// Makes the stream of a tile whose quads are put, as store_codes does.
inline void finish_tile(TileCodes& tile, int64_t begin, int64_t count, int bits, Bytes& stream) {
  uint32_t quad[kLanes][kQuads];
  for (int lane = 0; lane < kLanes; ++lane) get_quads(lane, tile, quad[lane]);
  for (int lane = 0; lane < kLanes; ++lane) put_words(lane, bits, quad[lane], tile);
  const int64_t elements = std::min<int64_t>(kTile, count - begin);
  std::memcpy(stream.data() + begin / 8 * bits, tile.word,
              static_cast<size_t>(code_bytes(elements, bits)));
}

/// The stream where elements come one by one.
inline Bytes stream_slowly(int64_t count, int bits, const std::function<uint32_t(int64_t)>& code) {
  Bytes stream(static_cast<size_t>(code_bytes(count, bits)), 0xFF);
  for (int64_t begin = 0; begin < count; begin += kTile) {
    TileCodes tile;
    const int here = static_cast<int>(std::min<int64_t>(kTile, count - begin));
    for (int lane = 0; lane < kLanes; ++lane) {
      put_quads_slowly(
          lane, here, bits, [&](int i) { return code(begin + i); }, tile);
    }
    finish_tile(tile, begin, count, bits, stream);
  }
  return stream;
}

/// What forward_whole does, for whole tiles.
template <ElementType kType>
Bytes stream_of_tiles(const StepSum& steps, const Bytes& x) {
  const int64_t count = count_of(x, kType);
  Bytes stream(static_cast<size_t>(code_bytes(count, steps.bits)), 0xFF);
  for (int64_t begin = 0; begin < count; begin += kTile) {
    TileCodes tile;
    for (int lane = 0; lane < kLanes; ++lane) {
      Vector vector[kVectors<kType>];
      for (int v = 0; v < kVectors<kType>; ++v) vector[v] = vector_at(x, kType, begin, lane, v);
      uint32_t quad[kQuads];
      sum_quads<kType>(steps, vector, quad);
      put_quads<kType>(lane, quad, tile);
    }
    finish_tile(tile, begin, count, steps.bits, stream);
  }
  return stream;
}

/// What forward_slowly does.
template <ElementType kType>
Bytes stream_of_elements(const StepSum& steps, const Bytes& x) {
  return stream_slowly(count_of(x, kType), steps.bits, [&](int64_t i) {
    return sum_code(steps, load_element<kType>(x.data(), i));
  });
}

template <ElementType kType>
Bytes stream_by_bisection(const StepView& steps, const Bytes& x) {
  using Real = std::conditional_t<kType == ElementType::f64, double, float>;
  const auto table = bisection_table<Real>(steps);
  return stream_slowly(count_of(x, kType), steps.bits, [&](int64_t i) {
    return bisect_code(table, load_compared<kType>(x.data(), i));
  });
}

/// Calls body.template operator()<type>() for each of them.
template <ElementType... kTypes, class Body>
void for_types(const Body& body) {
  (body.template operator()<kTypes>(), ...);
}

}  // namespace fewbit::kernels::cuda

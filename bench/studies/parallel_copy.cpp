#include "bench/studies/parallel_copy.hpp"

#include <algorithm>

#include <ATen/Parallel.h>

#include "bench/stream_copy.hpp"

namespace fewbit::bench {

void parallel_copy(const uint8_t* from, uint8_t* to, int64_t bytes) {
  constexpr int64_t kPiece = 1 << 14;
  const int64_t pieces = (bytes + kPiece - 1) / kPiece;
  at::parallel_for(0, pieces, 4, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * kPiece;
    stream_copy(from + first, to + first, std::min(end * kPiece, bytes) - first);
  });
}

}  // namespace fewbit::bench

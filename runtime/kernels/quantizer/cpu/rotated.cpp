#include "kernels/quantizer/rotated.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "kernels/floating_point_mode.hpp"
#include "kernels/quantizer/cpu/rotated_groups.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantizer/cpu/rotated.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/quantizer/cpu/class_map-inl.hpp"
#include "kernels/quantizer/cpu/low_rank_map-inl.hpp"
#include "kernels/quantizer/cpu/rotated_elements-inl.hpp"
#include "kernels/quantizer/cpu/rotated_stages-inl.hpp"
#include "kernels/stream/cpu/philox-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// Groups that go through a stage together, so that none waits for what it needs itself, and the
/// elements that they have at most.
inline constexpr int64_t kBatchGroups = 16;
inline constexpr int64_t kBatchElements = 8192;

/// Squares are exact enough between these.
inline constexpr float kLeastEnergy = 0x1p-100f;
inline constexpr float kMostEnergy = 0x1p100f;

inline constexpr float kNoLimit = std::numeric_limits<float>::infinity();

/// What the groups of a pass share.
class Pass {
 public:
  explicit Pass(const RotatedFormat& run)
      : format(run),
        group(group_stages(run.group)),
        element(element_stages(run.type)),
        code(code_stages(run.bits, run.states)),
        tables(run.bits, run.states),
        batch(std::min(kBatchGroups, kBatchElements / run.group)) {
    if (run.classes != nullptr) map.emplace(*run.classes, run);
    if (run.low_rank != nullptr) low_rank.emplace(*run.low_rank, run.group);
  }

  /// Whether what is coded are not the elements as they lie in memory.
  bool is_mapped() const { return map || low_rank; }

  /// The first `count` elements of a group, floats, to what is coded. to: may be x.
  void map_there(int64_t index, int64_t count, const float* x, float* to) const {
    if (low_rank) return low_rank->take(index, count, x, to);
    if (x != to) std::copy_n(x, count, to);
    if (map) map->map(index, count, kNoLimit, to);
  }

  /// And back.
  void map_back(int64_t index, float limit, float* x) const {
    if (map) map->map(index, format.group, limit, x);
    if (low_rank) low_rank->put_back(index, elements_of(index), limit, x);
  }

  int64_t elements_of(int64_t index) const {
    return std::min(format.group, format.count - index * format.group);
  }

  /// Bit e % 32 of word e / 32 is the sign of element e of the group. Groups of the same batch may
  /// be asked for until the next one is.
  const uint32_t* signs_of(int64_t index) {
    const int64_t first = index * format.group / 32;
    if (drawn_ < 0 || first < drawn_ || first + format.group / 32 > drawn_ + kBlock) {
      drawn_ = first / 4 * 4;
      philox_block(format.signs, drawn_, words_);
    }
    return words_ + (first - drawn_);
  }

  const RotatedFormat& format;
  GroupStages group;
  ElementStages element;
  CodeStages code;
  CodeTables tables;
  std::optional<GroupMap> map;
  std::optional<LowRankMap> low_rank;
  int64_t batch;  ///< groups of one

 private:
  int64_t drawn_ = -1;  ///< number of the first of words_
  alignas(64) uint32_t words_[kBlock];
};

/// Groups on their way from elements to codes.
class Encoder {
 public:
  explicit Encoder(const RotatedFormat& format) : pass_(format) {}

  void run(const void* x, uint8_t* codes, void* constants, GroupRange range) {
    const RotatedFormat& format = pass_.format;
    end_ = range.end;
    for (int64_t i = range.begin; i < range.end; i += pass_.batch) {
      first_ = i;
      groups_ = std::min(pass_.batch, range.end - i);
      from_ = static_cast<const uint8_t*>(x) + i * format.group * element_bytes(format.type);
      load();
      rotate();
      quantize(codes + i * format.code_bytes_of_group());
      for (int64_t j = 0; j < groups_; ++j) {
        put_constants(
            format.type, {mean_[j], factor_[j], exponent_[j]}, pass_.signs_of(i + j),
            static_cast<uint8_t*>(constants) + (i + j) * format.constant_bytes_of_group());
      }
    }
    if (has_suspects_ && format.has_suspects != nullptr) *format.has_suspects = true;
  }

 private:
  const uint8_t* bytes_of(int64_t j) const {
    return from_ + j * pass_.format.group * element_bytes(pass_.format.type);
  }
  float* place(float* buffer, int64_t j) const { return buffer + j * pass_.format.group; }

  /// A short group has zeros after its elements.
  void load() {
    const RotatedFormat& format = pass_.format;
    for (int64_t j = 0; j < groups_; ++j) {
      const int64_t count = pass_.elements_of(first_ + j);
      x_[j] = place(floats_, j);
      const bool are_floats = format.type == ElementType::f32 && count == format.group &&
                              reinterpret_cast<uintptr_t>(bytes_of(j)) % alignof(float) == 0;
      if (are_floats) {
        x_[j] = reinterpret_cast<const float*>(bytes_of(j));
      } else if (count == format.group) {
        pass_.element.load(bytes_of(j), format.group, place(floats_, j));
      } else {
        alignas(64) uint8_t padded[kMostRotated * 8] = {};
        std::memcpy(padded, bytes_of(j), static_cast<size_t>(count * element_bytes(format.type)));
        pass_.element.load(padded, format.group, place(floats_, j));
      }
      if (pass_.is_mapped()) {
        pass_.map_there(first_ + j, count, x_[j], place(floats_, j));
        x_[j] = place(floats_, j);
      }
    }
  }

  /// As extremes.hpp says, of what a group's codes are for; where that is not known too.
  static bool may_have_extremes(const Squares& of, float mean) {
    const bool is_usual = of.sum >= kLeastEnergy && of.sum <= kMostEnergy;
    // Below, the mean's rounding may be most of the energy.
    const bool is_of_elements = of.sum > 0x1p-7f * mean * mean;
    return of.sum != 0.0f && !(is_usual && is_of_elements && 8.01f * of.greatest <= of.sum);
  }

  float mean_of(int64_t j) const {
    const float mean = pass_.group.sum(x_[j]) / static_cast<float>(pass_.elements_of(first_ + j));
    return pass_.format.type == ElementType::f64 ? mean : float_from_bf16(bf16_from_float(mean));
  }

  Squares squares_of(int64_t j) {
    const int64_t count = pass_.elements_of(first_ + j);
    if (count < pass_.format.group) {
      std::fill(place(floats_, j) + count, place(floats_, j) + pass_.format.group, mean_[j]);
    }
    return pass_.group.rotate(x_[j], mean_[j], pass_.signs_of(first_ + j), place(y_, j));
  }

  void rotate() {
    const int64_t group_bytes = pass_.format.group * element_bytes(pass_.format.type);
    for (int64_t j = 0; j < groups_; ++j) mean_[j] = mean_of(j);
    for (int64_t j = 0; j < groups_; ++j) {
      const Squares squares = squares_of(j);
      energy_[j] = squares.sum;
      if (may_have_extremes(squares, mean_[j])) has_suspects_ = true;
      if (first_ + j + pass_.batch < end_) prefetch(bytes_of(j + pass_.batch), group_bytes);
    }
    for (int64_t j = 0; j < groups_; ++j) {
      exponent_[j] = 0;
      const bool is_usual = energy_[j] >= kLeastEnergy && energy_[j] <= kMostEnergy;
      if (!is_usual) rotate_scaled(j);
    }
  }

  /// A group that is constant, too great or small for squares, or not finite.
  void rotate_scaled(int64_t j) {
    const RotatedFormat& format = pass_.format;
    const bool is_mapped = pass_.is_mapped();  // and where it is coded from
    const std::optional<int> exponent =
        scaled_elements(is_mapped ? ElementType::f32 : format.type,
                        is_mapped ? static_cast<const void*>(place(floats_, j)) : bytes_of(j),
                        pass_.elements_of(first_ + j), format.group, place(floats_, j));
    x_[j] = place(floats_, j);
    if (exponent) {
      exponent_[j] = *exponent;
      mean_[j] = mean_of(j);
      const Squares squares = squares_of(j);
      energy_[j] = squares.sum;
      if (may_have_extremes(squares, mean_[j])) has_suspects_ = true;
    } else {
      std::fill_n(place(y_, j), format.group, 0.0f);
      mean_[j] = std::numeric_limits<float>::quiet_NaN();
      energy_[j] = 0.0f;
    }
  }

  void quantize(uint8_t* codes) {
    const int64_t group = pass_.format.group;
    const int64_t bytes = pass_.format.code_bytes_of_group();
    const auto elements = static_cast<float>(group);
    for (int64_t j = 0; j < groups_; ++j) {
      root_[j] = std::sqrt(energy_[j]) * std::sqrt(elements);
      factor_[j] = energy_[j] == 0.0f ? 0.0f : 1.0f / root_[j];
    }
    pass_.code.encode(pass_.tables, {y_, group, groups_, factor_}, bytes_);
    pack(bytes_, groups_ * group, pass_.format.bits, packed_);
    std::memcpy(codes, packed_, static_cast<size_t>(groups_ * bytes));
    for (int64_t j = 0; j < groups_; ++j) {
      factor_[j] = energy_[j] == 0.0f ? 0.0f : root_[j] / pass_.group.sum_half(place(y_, j));
    }
  }

  Pass pass_;
  int64_t end_ = 0;     ///< of the range
  int64_t first_ = 0;   ///< of the batch
  int64_t groups_ = 0;  ///< in it
  bool has_suspects_ = false;
  const uint8_t* from_ = nullptr;
  const float* x_[kBatchGroups] = {};
  float mean_[kBatchGroups] = {};
  float energy_[kBatchGroups] = {};
  float root_[kBatchGroups] = {};
  float factor_[kBatchGroups] = {};
  int exponent_[kBatchGroups] = {};
  alignas(64) float floats_[kBatchElements];
  alignas(64) float y_[kBatchElements];
  uint8_t bytes_[kBatchElements];
  uint8_t packed_[kBatchElements + 16];
};

void run_rotated_encode(const RotatedFormat& format, const void* x, uint8_t* codes, void* constants,
                        GroupRange range) {
  Encoder(format).run(x, codes, constants, range);
  if (range.end < format.groups()) return;
  const int64_t written = range.end * format.code_bytes_of_group();
  const int64_t bytes = code_bytes(format.coded_elements(), format.bits);
  std::memset(codes + written, 0, static_cast<size_t>(bytes - written));
}

/// Times 2^exponent, which only doubles have.
void store_group(const Pass& pass, int64_t index, const float* x, int exponent, bool past_cache,
                 uint8_t* to) {
  const RotatedFormat& format = pass.format;
  const int64_t count = pass.elements_of(index);
  if (exponent != 0) {
    store_scaled(x, count, exponent, to);
  } else if (count == format.group) {
    (past_cache ? pass.element.store_past_cache : pass.element.store)(x, count, to);
  } else {
    alignas(64) uint8_t padded[kMostRotated * 8];
    pass.element.store(x, format.group, padded);
    std::memcpy(to, padded, static_cast<size_t>(count * element_bytes(format.type)));
  }
}

void run_rotated_decode(const RotatedFormat& format, const uint8_t* codes, const void* constants,
                        void* x, GroupRange range) {
  Pass pass(format);
  alignas(64) float q[kMostRotated];
  alignas(64) float elements[kMostRotated];
  uint8_t stream[kMostRotated + 16];
  const int64_t bytes = format.code_bytes_of_group();
  const int64_t element_bytes_of_group = format.group * element_bytes(format.type);
  const float limit = finite_limit(format.type);
  // What is left of short elements is a float.
  const float of_rest = pass.low_rank ? finite_limit(ElementType::f32) : limit;
  const bool past_cache = stores_past_cache({0, format.count, format.count}, format.type, codes, x);
  for (int64_t i = range.begin; i < range.end; ++i) {
    const uint8_t* from = codes + i * bytes;
    auto* const to = static_cast<uint8_t*>(x) + i * element_bytes_of_group;
    if (!past_cache && i + 1 < range.end) {
      prefetch(to + element_bytes_of_group, element_bytes_of_group);
    }
    // What is read beyond a group's codes has to be another group's.
    if ((format.groups() - i - 1) * bytes < 16) {
      std::memcpy(stream, from, static_cast<size_t>(bytes));
      from = stream;
    }
    pass.code.decode(pass.tables, from, format.group, q);
    const RotatedConstants kept = constants_of(
        format.type, static_cast<const uint8_t*>(constants) + i * format.constant_bytes_of_group());
    pass.group.rotate_back(q, kept.mean, kept.factor, of_rest, pass.signs_of(i), elements);
    pass.map_back(i, limit, elements);
    store_group(pass, i, elements, kept.exponent, past_cache, to);
  }
  if (past_cache) hwy::FlushStream();
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fewbit::kernels {

HWY_EXPORT(run_rotated_encode);
HWY_EXPORT(run_rotated_decode);

void rotated_encode(const RotatedFormat& format, const void* x, uint8_t* codes, void* constants,
                    GroupRange range) {
  const DefaultFloatingPoint arithmetic;
  HWY_DYNAMIC_DISPATCH(run_rotated_encode)(format, x, codes, constants, range);
}

void rotated_decode(const RotatedFormat& format, const uint8_t* codes, const void* constants,
                    void* x, GroupRange range) {
  const DefaultFloatingPoint arithmetic;
  HWY_DYNAMIC_DISPATCH(run_rotated_decode)(format, codes, constants, x, range);
}

}  // namespace fewbit::kernels
#endif

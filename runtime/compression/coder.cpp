#include "compression/coder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <c10/util/Exception.h>

namespace fewbit::session {

namespace {

constexpr std::array kNames = {
    std::pair(CodecKind::rotated, std::string_view("rotated")),
    std::pair(CodecKind::by_class, std::string_view("by_class")),
    std::pair(CodecKind::normalized, std::string_view("normalized")),
    std::pair(CodecKind::group, std::string_view("group")),
    std::pair(CodecKind::squares, std::string_view("squares")),
    std::pair(CodecKind::by_sample, std::string_view("by_sample")),
    std::pair(CodecKind::frequency_split, std::string_view("frequency_split")),
    std::pair(CodecKind::fixed_point, std::string_view("fixed_point"))};

constexpr int kActnnBits = 4;  // of levels 1 and 2

constexpr double kLeastAverage = 0.5;

/// Of a scheme that has levels, or 0.
int level_of(const CompressorOptions& options) {
  const bool is_actnn = options.scheme == Scheme::actnn;
  if (!is_actnn && options.scheme != Scheme::gact) {
    TORCH_CHECK(!options.level, "fewbit::Compressor: level is ", *options.level,
                ", accepted in the schemes actnn and gact alone");
    return 0;
  }
  const int most = is_actnn ? 5 : 2;
  const int level = options.level.value_or(is_actnn ? 3 : 2);
  TORCH_CHECK(level >= 0 && level <= most, "fewbit::Compressor: level is ", level,
              ", accepted in the scheme ", is_actnn ? "actnn" : "gact", ": 0 to ", most);
  return level;
}

/// As many at every site, in the schemes and levels that have no other.
std::optional<int> fixed_bits_of(const CompressorOptions& options, int level) {
  const double bits = options.bits;
  const auto whole = [bits](const char* where) {
    TORCH_CHECK(bits == std::floor(bits), "fewbit::Compressor: bits is ", bits, ", accepted in ",
                where, ": whole ones, 1 to 8");
    return static_cast<int>(bits);
  };
  switch (options.scheme) {
    case Scheme::actnn:
      return level < 3 ? std::optional(kActnnBits) : std::nullopt;
    case Scheme::gact:
      return level == 1 ? std::optional(whole("level 1 of the scheme gact")) : std::nullopt;
    case Scheme::division:
      return whole("the scheme division");
    case Scheme::blpa:
      TORCH_CHECK(bits == 2 || bits == 4 || bits == 8, "fewbit::Compressor: bits is ", bits,
                  ", accepted in the scheme blpa: 2, 4, 8");
      return static_cast<int>(bits);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string_view name_of(CodecKind kind) {
  return std::ranges::find(kNames, kind, [](const auto& entry) { return entry.first; })->second;
}

std::optional<CodecKind> codec_kind_of(std::string_view name) {
  for (const auto& [kind, known] : kNames) {
    if (name == known) return kind;
  }
  return std::nullopt;
}

codecs::CodecPointer exact_codec(StorageKind storage) {
  switch (storage) {
    case StorageKind::mask:
      return codecs::mask();
    case StorageKind::integers:
      return codecs::integers();
    case StorageKind::sizes:
      return codecs::sizes_only();
    case StorageKind::bf16:
      return codecs::cast(at::kBFloat16);
    case StorageKind::e4m3:
      return codecs::cast(at::kFloat8_e4m3fn);
    case StorageKind::e5m2:
      return codecs::cast(at::kFloat8_e5m2);
    case StorageKind::offloaded:
    case StorageKind::codes:
      return codecs::identity();
    default:
      return nullptr;
  }
}

void check_bits(const char* what, double bits) {
  TORCH_CHECK(bits >= 1 && bits <= kMostBits, "fewbit::Compressor: ", what, " is ", bits,
              ", accepted: 1 to 8");
}

Coder::Coder(const CompressorOptions& options) : options_(options) {
  const bool recomputes = options.scheme == Scheme::rotated;  // from one tensor's codes another
  TORCH_CHECK(options.bits >= (recomputes ? kLeastAverage : 1.0) && options.bits <= kMostBits,
              "fewbit::Compressor: bits is ", options.bits,
              ", accepted: ", recomputes ? "0.5 to 8" : "1 to 8");
  if (options.activation_bits) check_bits("activation_bits", *options.activation_bits);
  TORCH_CHECK(codecs::is_group(options.group), "fewbit::Compressor: group is ", options.group,
              ", accepted: 64, 128, 256, 512, 1024");
  TORCH_CHECK(options.trellis == 0 || options.trellis == 4 || options.trellis == 8,
              "fewbit::Compressor: trellis is ", options.trellis, ", accepted: 0, 4, 8");
  TORCH_CHECK(options.directions >= 0 && options.directions <= ops::kMostDirections,
              "fewbit::Compressor: directions is ", options.directions, ", accepted: 0 to ",
              ops::kMostDirections);
  TORCH_CHECK(options.bytes >= 0, "fewbit::Compressor: bytes is ", options.bytes,
              ", accepted: 0 for none, or more");
  const int64_t cache_bytes = options.decoded_cache_bytes.value_or(0);
  TORCH_CHECK(cache_bytes >= 0, "fewbit::Compressor: decoded_cache_bytes is ", cache_bytes,
              ", accepted: 0 for none, or more");
  TORCH_CHECK(options.block > 0, "fewbit::Compressor: block is ", options.block,
              ", accepted: above 0");
  level_ = level_of(options);
  fixed_bits_ = fixed_bits_of(options, level_);
}

bool Coder::accepts(const CompressorOptions& options) {
  try {
    const Coder coder(options);
    return true;
  } catch (const c10::Error&) {
    return false;
  }
}

int64_t Coder::most_directions() const {
  return options_.scheme == Scheme::rotated ? options_.directions : 0;
}

bool Coder::follows_gradients() const {
  return (options_.scheme == Scheme::actnn || options_.scheme == Scheme::gact) && splits_bits();
}

bool Coder::codes(const SavePolicy& save_policy) const {
  if (options_.scheme == Scheme::gact) return level_ > 0;
  if (options_.scheme != Scheme::actnn) return true;
  return level_ > 1 || (level_ == 1 && !save_policy.is_norm);
}

std::vector<CodecKind> Coder::kinds(const SavePolicy& save_policy, const Subject& subject) const {
  switch (options_.scheme) {
    case Scheme::group:
    case Scheme::gact:
      return {CodecKind::group};
    case Scheme::actnn:
      return {fixed_bits_ ? CodecKind::group : CodecKind::by_sample};
    case Scheme::division:
      return {has_channels(subject.event) ? CodecKind::frequency_split : CodecKind::group};
    case Scheme::blpa:
      return {save_policy.is_norm && norm_of(subject.event) ? CodecKind::fixed_point
                                                            : CodecKind::group};
    case Scheme::rotated:
      break;
  }
  if (save_policy.storage == StorageKind::probabilities)
    return {CodecKind::squares, CodecKind::rotated};
  std::vector<CodecKind> kinds = {CodecKind::rotated, CodecKind::group};
  if (subject.classes) kinds.insert(kinds.begin(), CodecKind::by_class);
  if (subject.statistics) kinds.push_back(CodecKind::normalized);
  return kinds;
}

codecs::CodecPointer Coder::codec(CodecKind kind, int bits, const Subject* subject) const {
  switch (kind) {
    case CodecKind::group:
      return codecs::grouped(bits, options_.group);
    case CodecKind::squares:
      return codecs::squares(bits, options_.group);
    case CodecKind::by_sample:
      return codecs::grouped_by_sample(bits, options_.group);
    case CodecKind::frequency_split:
      return codecs::frequency_split(bits, options_.block);
    case CodecKind::fixed_point:
      return codecs::normal_fixed_point(bits,
                                        subject ? norm_of(subject->event).value() : codecs::Norm());
    case CodecKind::normalized: {
      const bool is_by_class = subject && subject->classes;
      return codecs::normalized(
          codec(is_by_class ? CodecKind::by_class : CodecKind::rotated, bits, subject),
          subject ? subject->statistics.value() : codecs::Statistics());
    }
    case CodecKind::by_class:
      return codecs::rotated_by_class(rotated(bits),
                                      subject ? subject->classes.value() : codecs::Classes());
    case CodecKind::rotated:
      break;
  }
  return codecs::rotated(rotated(bits));
}

codecs::CodecPointer Coder::beside_directions(int bits, const Subject& subject) const {
  const codecs::CodecPointer codec = codecs::low_rank(rotated(bits), subject.directions.value());
  return subject.statistics ? codecs::normalized(codec, *subject.statistics) : codec;
}

/// Of more bits each code is for itself.
codecs::RotatedCodes Coder::rotated(int bits) const {
  return {bits, options_.group, bits <= ops::kMostTrellisBits ? options_.trellis : 0};
}

double Coder::expected_error(CodecKind kind, int bits) const {
  const bool is_rotated =
      kind == CodecKind::rotated || kind == CodecKind::by_class || kind == CodecKind::normalized;
  return is_rotated ? ops::rotated_error(rotated(bits)) : std::pow((1 << bits) - 1, -2.0);
}

/// A sixteenth of the error of these codes. Theirs is drawn anew in each step, a table's is always
/// the same. A table's codes also tell where the outputs lie.
double Coder::activation_error(double average_bits) const {
  constexpr double kLess = 16.0;
  const double bits = std::clamp(average_bits, 1.0, static_cast<double>(kMostBits));
  const auto below = static_cast<int>(bits);
  const double share = bits - below;
  const double at_below = expected_error(CodecKind::rotated, below);
  const double at_above = expected_error(CodecKind::rotated, std::min(below + 1, kMostBits));
  return std::pow(at_below, 1.0 - share) * std::pow(at_above, share) / kLess;
}

int Coder::first_bits(const SavePolicy& save_policy) const {
  if (fixed_bits_) return *fixed_bits_;
  const double more = std::log(save_policy.weight) / std::log(4.0);
  return std::clamp(static_cast<int>(options_.bits + std::round(more)), 1, kMostBits);
}

}  // namespace fewbit::session

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "codecs/codec.hpp"
#include "compression/operators/operator.hpp"
#include "fewbit/compressor.hpp"

namespace fewbit::session {

/// Of an element.
inline constexpr int kMostBits = 8;

/// Codecs that take bits. Their names in files are name_of's.
enum class CodecKind {
  rotated,
  by_class,
  normalized,
  group,
  squares,
  by_sample,
  frequency_split,
  fixed_point
};

std::string_view name_of(CodecKind kind);
std::optional<CodecKind> codec_kind_of(std::string_view name);

/// What is coded: who saves it, and what is known of its elements.
struct Subject {
  const SaveEvent& event;
  std::optional<codecs::Classes> classes = {};
  std::optional<codecs::Statistics> statistics = {};  ///< of a norm, of its input
  std::optional<codecs::Directions> directions = {};  ///< of what is coded, normalised or not
};

/// How a scheme codes what takes bits of a budget. Has no state but its options.
class Coder {
 public:
  /// Throws c10::Error for options that are out of range, naming them.
  explicit Coder(const CompressorOptions& options);
  /// Whether it throws nothing.
  static bool accepts(const CompressorOptions& options);

  const CompressorOptions& options() const { return options_; }

  /// Whether what is coded leaves the device's memory.
  bool offloads() const { return options_.offload || is_actnn_from(4); }
  bool expands_segments() const { return is_actnn_from(5); }
  /// Of a site's; 0: none.
  int64_t most_directions() const;
  /// Whether bits are split by errors; else all sites have as many.
  bool splits_bits() const { return !fixed_bits_; }
  /// Whether these are weighed by the gradients of the outputs, too.
  bool follows_gradients() const;
  /// What the scheme does not code at all is left alone.
  bool codes(const SavePolicy& save_policy) const;

  /// Of which the one with the lower error counts, once measured; the first until then.
  std::vector<CodecKind> kinds(const SavePolicy& save_policy, const Subject& subject) const;
  /// Without a subject a codec of fixed points is of no norm, one by class of no classes, and good
  /// for its name alone.
  codecs::CodecPointer codec(CodecKind kind, int bits, const Subject* subject = nullptr) const;
  /// Rotated, of what the subject's directions leave.
  codecs::CodecPointer beside_directions(int bits, const Subject& subject) const;
  /// As the error of what is coded falls with bits: for N(0, 1), or with the square of the steps.
  double expected_error(CodecKind kind, int bits) const;
  /// As they are given.
  double average_bits() const { return fixed_bits_ ? *fixed_bits_ : options_.bits; }
  /// The largest error of an activation's table that goes with codes of so many bits on average,
  /// over the energy of the derivative.
  double activation_error(double average_bits) const;
  /// Until errors are known: what it would have among sites that weigh 1.
  int first_bits(const SavePolicy& save_policy) const;

 private:
  codecs::RotatedCodes rotated(int bits) const;
  bool is_actnn_from(int level) const {
    return options_.scheme == Scheme::actnn && level_ >= level;
  }

  CompressorOptions options_;
  int level_ = 0;
  std::optional<int> fixed_bits_;
};

/// What codes what takes no bits of a budget; null for what does.
codecs::CodecPointer exact_codec(StorageKind storage);

/// Throws c10::Error naming `what` where it is not from 1 to 8.
void check_bits(const char* what, double bits);

}  // namespace fewbit::session

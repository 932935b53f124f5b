#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "table/table.hpp"
#include "weights/item_type.hpp"

namespace fewbit::solver {

/// A bin holds no more than this part of the samples, unless they are one number.
inline constexpr size_t kSampleBins = 1024;
/// The most bins that samples become, empty ones between them included.
inline constexpr size_t kMostSampleBins = 4096;
/// More units than this are joined with their neighbours in mean.
inline constexpr size_t kMaxUnits = 1024;

/// How samples are written in a file.
///   npy   NumPy's format 1.0 to 3.0, C or Fortran order, any shape: float16, 32 or 64 in either
///         byte order, or bfloat16; its type is in its header, `items` bf16 takes 16-bit integers
///         for the bits of bfloat16
///   csv   numbers between commas, white space or line ends; a header line and '#' comments skipped
///   raw   `items`, little-endian, nothing else
struct SampleFormat {
  enum class Kind { npy, csv, raw };
  Kind kind = Kind::npy;
  std::optional<ItemType::Kind> items;  ///< of raw: none is f32
};

/// "npy", "npy:bf16", "csv", "raw", "raw:f16", "raw:bf16", "raw:f32" or "raw:f64"; throws Error for
/// anything else.
SampleFormat parse_sample_format(std::string_view text);

/// By the ending of the name: .npy, .csv, .f32 or .raw; throws Error for any other.
SampleFormat sample_format(const std::string& path);

/// Rows of a two-dimensional array are samples, columns are units. Zero columns: no such array.
struct SampleShape {
  size_t rows = 0;
  size_t columns = 0;
  bool column_major = false;
};

class SampleReader;

/// Numbers in one or more files, to be gone over as often as wanted, in blocks: memory does not
/// depend on how many they are.
class Samples {
 public:
  /// Opens FILE, FILE.npz:KEY (an array of a NumPy archive; without key its only one) or "-", which
  /// is standard input. The format follows the name, or for standard input the first bytes, where
  /// none is given. Pipes and standard input are kept in memory, up to 1 GiB. Throws Error with the
  /// file where it is empty, truncated, longer than its header says, damaged or of another type.
  explicit Samples(const std::vector<std::string>& names,
                   const std::optional<SampleFormat>& format = {});
  /// One seekable stream, which has to outlive the samples.
  Samples(std::istream& in, const SampleFormat& format, const std::string& name);
  Samples(Samples&&) noexcept;
  Samples& operator=(Samples&&) noexcept;
  ~Samples();

  using Visit = std::function<void(std::span<const double>)>;

  /// All samples, file by file, clipped where clip() said so. Throws Error with the file where it
  /// cannot be read or holds NaN, infinity or a magnitude above 1e100 (the message names the first
  /// index).
  void for_each_block(const Visit& visit) const;

  /// One file's samples, in the order that its shape tells.
  void for_each_block(size_t file, const Visit& visit) const;

  size_t files() const { return readers_.size(); }
  SampleShape shape(size_t file) const;

  /// The first file's name, and how many more there are.
  std::string name() const;

  /// From here on samples outside of the ends count as the nearer end.
  void clip(const Domain& ends) { ends_ = ends; }

 private:
  std::vector<std::unique_ptr<SampleReader>> readers_;
  std::vector<std::string> names_;
  std::optional<Domain> ends_;
};

/// What is worth knowing of samples beside their histogram; after clipping.
struct SampleSummary {
  size_t count = 0;
  double least = 0.0;
  double greatest = 0.0;
  double median = 0.0;  ///< as the bins tell it
  /// The thousandth part of the samples, at least one.
  size_t few = 0;
  /// Of the sum of squared distances from the median: what the `few` that are farthest away carry.
  /// A normal has 0.012, a Cauchy about 1.
  double share_of_few = 0.0;
  bool looks_transposed = false;  ///< see UnitMoments::looks_transposed
};

struct FittedSamples {
  WeightSpec weight;  ///< a histogram
  /// Of kind `samples`: the same numbers as they are, where at most kMostValues of them differ.
  std::optional<WeightSpec> values;
  SampleSummary summary;
};

/// The histogram of all samples (see Fineness for its bins). Kind `histogram`: edges from next
/// below the least sample to the greatest, masses that sum to 1. Two-dimensional arrays (samples x
/// units, at least two samples, at most 2^20 units, of several files all with as many units) also
/// give `units`: mean and standard deviation of each, at most kMaxUnits of them, a spread of at
/// least 1e-6 of the bulk's width. With `clip` q, 0.5 < q <= 1, the (1 - q) n least samples,
/// rounded down, count as the least of the others, and likewise the greatest; `samples` then clips.
/// Reads the samples two to a dozen times. Throws Error where they have no spread or change between
/// two readings.
FittedSamples fit_samples(Samples& samples, double clip = 1.0);

/// Lines for the user, without end of line: few values carry most of the squared weight; the array
/// looks transposed. None where all is well, or where there are fewer than 20 samples.
std::vector<std::string> sample_warnings(const SampleSummary& summary);

}  // namespace fewbit::solver

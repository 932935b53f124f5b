#pragma once

#include <cstddef>
#include <istream>
#include <string>

#include "table/table.hpp"

namespace fewbit::solver {

/// Equal bins between the mean -+ 8 standard deviations (or the data's ends, where nearer); beyond
/// them widths double.
inline constexpr size_t kSampleBins = 1024;
/// More units than this are joined with their neighbours in mean.
inline constexpr size_t kMaxUnits = 1024;

/// How samples are written in a file.
///   npy   NumPy's format 1.0 to 3.0, '<f4' or '<f8', C or Fortran order, any shape
///   csv   numbers between commas, white space or line ends; a header line and '#' comments skipped
///   raw   little-endian float32, nothing else
enum class SampleFormat { npy, csv, raw };

/// By the ending of the name: .npy, .csv, .f32 or .raw; throws Error for any other.
SampleFormat sample_format(const std::string& path);

/// The histogram of all samples, read twice in blocks: memory does not depend on their number. Kind
/// `histogram`: edges from the least sample to the greatest, masses that sum to 1. A
/// two-dimensional .npy (samples x units, at least two samples, at most 2^20 units) also gives
/// `units`: mean and standard deviation of each, at most kMaxUnits of them, a spread of at least
/// 1e-6 of the overall one. Throws Error with `name` where the stream is empty, truncated, longer
/// than its header says, of another type, cannot be read twice, holds NaN, infinity or a magnitude
/// above 1e100 (the message names the first index), or has no spread.
WeightSpec read_samples(std::istream& in, SampleFormat format, const std::string& name);

/// The same from a file.
WeightSpec read_samples_file(const std::string& path);

}  // namespace fewbit::solver

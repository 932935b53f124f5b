#pragma once

#include <cstddef>
#include <istream>
#include <memory>
#include <span>
#include <string>

#include "weights/samples.hpp"

namespace fewbit::solver {

/// Rows of a two-dimensional array are samples, columns are units. Zero columns: no such array.
struct SampleShape {
  size_t rows = 0;
  size_t columns = 0;
  bool column_major = false;
};

/// A stream of numbers that can be started again. Checks format and values while it reads.
class SampleReader {
 public:
  virtual ~SampleReader() = default;

  /// Fills the front of `block` and returns how many numbers that were; 0 at the end only.
  virtual size_t read(std::span<double> block) = 0;

  /// Starts again at the first number.
  virtual void rewind() = 0;

  virtual SampleShape shape() const { return {}; }
};

/// A reader at the first number; throws as read_samples does.
std::unique_ptr<SampleReader> make_sample_reader(std::istream& in, SampleFormat format,
                                                 const std::string& name);

std::unique_ptr<SampleReader> make_binary_reader(std::istream& in, SampleFormat format,
                                                 const std::string& name);
std::unique_ptr<SampleReader> make_csv_reader(std::istream& in, const std::string& name);

/// Throws Error unless |value| <= 1e100.
void check_sample(double value, size_t index, const std::string& name);

}  // namespace fewbit::solver

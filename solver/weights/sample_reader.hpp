#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "weights/byte_source.hpp"
#include "weights/item_type.hpp"
#include "weights/samples.hpp"

namespace fewbit::solver {

/// The numbers of one file, to be read as often as wanted. Checks format and values meanwhile.
class SampleReader {
 public:
  virtual ~SampleReader() = default;

  /// Fills the front of `block` and returns how many numbers that were; 0 at the end only.
  virtual size_t read(std::span<double> block) = 0;

  /// Starts again at the first number.
  virtual void rewind() = 0;

  virtual SampleShape shape() const { return {}; }
};

/// A reader at the first number; throws as Samples does.
std::unique_ptr<SampleReader> make_sample_reader(std::unique_ptr<ByteSource> source,
                                                 const SampleFormat& format);

std::unique_ptr<SampleReader> make_npy_reader(std::unique_ptr<ByteSource> source,
                                              bool integers_are_bf16);
std::unique_ptr<SampleReader> make_raw_reader(std::unique_ptr<ByteSource> source, ItemType type);
std::unique_ptr<SampleReader> make_csv_reader(std::unique_ptr<ByteSource> source);

/// Throws Error unless |value| <= 1e100.
void check_sample(double value, size_t index, const std::string& name);

}  // namespace fewbit::solver

#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

/// What coding does to a run of elements. All squared, over the run's energy.
namespace fewbit::session {

/// Elements in the order of memory that come some at a time, so that a run and what came back of it
/// are compared without a copy of either.
struct ByParts {
  /// All of a dense tensor.
  ByParts(const at::Tensor& run);
  using Part = std::function<at::Tensor(int64_t begin, int64_t end)>;
  ByParts(c10::Device place, int64_t elements, int64_t multiple, Part of)
      : device(place), count(elements), step(multiple), part(std::move(of)) {}

  c10::Device device;
  int64_t count;
  int64_t step = 1;  ///< parts begin at its multiples
  Part part;         ///< elements [begin, end), flat
};

/// The error of what came back. The mean is no part of the energy where `is_norm`.
double error_of(const ByParts& run, const ByParts& decoded, bool is_norm);

/// The median over groups of 256 elements, in the order of memory, of each one's squared error over
/// its energy: what most groups have where a few hold most of the run's energy. Steps are multiples
/// of these, or 1.
double median_error_of(const ByParts& run, const ByParts& decoded, bool is_norm);

/// Of the probabilities p that a log_softmax saves, but for the greatest of each row: their energy
/// over that of the gradient, 1 - |p|^2 in a row whose probabilities are right, as the sum of
/// p (1 - p) has it to a factor of 2. 0: all are 0.
double energy_share_of(const ByParts& probabilities);

/// The error of 1 to 8 bits from that of some: as `expected` falls, the error of so many bits by
/// the book.
std::vector<double> errors_by_bits(double measured, int bits,
                                   const std::function<double(int bits)>& expected);

}  // namespace fewbit::session

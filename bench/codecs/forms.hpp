#pragma once

#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "codecs/codec.hpp"

/// Ways to keep a run of elements, and what theory says of their errors.
namespace fewbit::bench {

using codecs::RandomStream;

constexpr int64_t kGroup = 256;

struct Form {
  std::string name;  ///< "rotated, 4 states"
  int bits;
  /// A flat run there and back.
  std::function<at::Tensor(const at::Tensor& run, const RandomStream& random)> decoded;
};

/// States 4 and 8 of at most 4 bits.
Form rotated(int bits, int states, int64_t group = kGroup);
/// "stochastic", "nearest" or "dithered".
Form grouped(int bits, const std::string& rounding);

/// Stream number `draw` of all that is drawn with one seed.
RandomStream stream(int64_t seed, int64_t draw);

/// x as [groups, group], filled up with zeros, in doubles.
at::Tensor in_groups(const at::Tensor& run, int64_t group = kGroup);

/// The variance of every element of a float run, [groups, kGroup]; group by group's own rounding: f
/// (1 - f) step^2 where stochastic, step^2 / 12 else, by the constants that are kept.
at::Tensor grouped_variance(const at::Tensor& run, int bits, const std::string& rounding);

/// The same of rotated codes: a group's error by the book, spread evenly over its elements.
at::Tensor rotated_variance(const at::Tensor& run, int bits, int states);

}  // namespace fewbit::bench

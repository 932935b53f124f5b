#pragma once

#include <cstddef>
#include <span>

namespace fewbit::solver {

/// How one number lies in a file: an IEEE half, single or double, or the upper half of a single.
struct ItemType {
  enum class Kind { f16, bf16, f32, f64 };

  Kind kind = Kind::f32;
  bool big_endian = false;

  size_t bytes() const;
  bool operator==(const ItemType&) const = default;
};

/// The numbers in `bytes`, which holds numbers.size() items.
void read_items(const ItemType& type, std::span<const char> bytes, std::span<double> numbers);

}  // namespace fewbit::solver

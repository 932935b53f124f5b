#pragma once

#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "fewbit/table.hpp"

namespace fewbit::examples {

/// An activation as a model takes it: its value is always exact, its derivative as chosen.
using Activate = std::function<at::Tensor(const at::Tensor&)>;

/// One way to keep the derivative of an activation.
struct Choice {
  std::string form;  ///< "exact", "standard", "calibrated", or form and weight of a built-in table
  int bits = 0;      ///< of a code; 0 for exact
  Activate activate;
  bool is_calibrated = false;  ///< in scopes, by tables fitted on the way: Calibration

  std::string label() const;
};

/// Torch's own "gelu" or "silu".
Choice exact(const std::string& function);

/// By the built-in table of that form and weight: few_bit("gelu", "levels_normal", 3).
Choice few_bit(const std::string& function, const std::string& form, int bits);

/// By a table of one's own: fitted to a layer, or read from a file. `form` is its name in results.
Choice by_table(const std::string& form, const Table& table);

/// By the table that the library takes where only bits are given.
Choice standard(const std::string& function, int bits);

/// By tables fitted to each place of the model while it trains.
Choice calibrated(const std::string& function, int bits);

/// All forms and weights with 1 to `most_bits` bits, by bits, then form. Where `distinct`, a table
/// that is the same as one before it is left out: levels and intervals often are at 1 and 2 bits.
std::vector<Choice> few_bit_choices(const std::string& function,
                                    const std::vector<std::string>& forms, int most_bits = 4,
                                    bool distinct = false);

/// Bytes that codes of so many elements take: whole bytes, rounded up to 16.
int64_t code_bytes(int64_t elements, int bits);

}  // namespace fewbit::examples

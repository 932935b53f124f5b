#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fewbit/table.hpp"

namespace fewbit::nn {

/// Parameters of a function by torch's names, in the order in which tables declare them.
using NamedParameters = std::vector<std::pair<std::string, double>>;

/// Options that all few-bit modules have in addition to those of torch::nn.
///
/// ```cpp
/// const auto options = fewbit::nn::ELUOptions().alpha(0.5).bits(2);
/// const fewbit::nn::ELU act(options);
/// ```
template <class Recomputed>
class ActivationOptions {
 public:
  /// Sets the bits of each code, 1 to 8; default 3. Functions whose derivative is a step function
  /// take 1 bit, whatever is set.
  Recomputed& bits(int count) {
    bits_ = count;
    return static_cast<Recomputed&>(*this);
  }
  int bits() const { return bits_; }

  /// Sets a table, calibrated or read from a file, instead of the default one for `bits`.
  Recomputed& table(Table table) {
    table_ = std::move(table);
    return static_cast<Recomputed&>(*this);
  }
  const std::optional<Table>& table() const { return table_; }

  /// Accepted as in torch::nn, without effect: the input is not changed, and none of it is saved.
  Recomputed& inplace(bool inplace) {
    inplace_ = inplace;
    return static_cast<Recomputed&>(*this);
  }
  bool inplace() const { return inplace_; }

 private:
  int bits_ = 3;
  bool inplace_ = false;
  std::optional<Table> table_;
};

}  // namespace fewbit::nn

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fewbit/table.hpp"

namespace fewbit::nn {

/// A function's parameters by torch's names, in the order the table declares them.
using NamedParameters = std::vector<std::pair<std::string, double>>;

/// What all few-bit modules take beside torch::nn's own options.
template <class Recomputed>
class ActivationOptions {
 public:
  /// Of each stored code, 1 to 8; functions with a step function for a derivative take one whatever
  /// is asked for. Default: 3.
  Recomputed& bits(int count) {
    bits_ = count;
    return static_cast<Recomputed&>(*this);
  }
  int bits() const { return bits_; }

  /// A table of one's own (calibrated, or from a file) instead of the default for `bits`.
  Recomputed& table(Table table) {
    table_ = std::move(table);
    return static_cast<Recomputed&>(*this);
  }
  const std::optional<Table>& table() const { return table_; }

  /// Accepted as torch::nn does; the input is not changed, since nothing of it is kept anyway.
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

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace fewbit {

struct TableData;

/// The derivative of a function of lines as torch has it for one type.
struct StepFunction {
  std::vector<double> thresholds;
  std::vector<uint8_t> codes;
  uint8_t nan_code;
  std::vector<double> levels;
  bool even = false;

  /// The level of x.
  double operator()(double x) const;
};

/// For the eight functions of lines that torch has; nothing for others.
std::optional<StepFunction> torch_steps(const std::string& function,
                                        const std::vector<double>& parameters, at::ScalarType type);

/// The same if `data` is that function's exact table, but for what happens at kinks.
std::optional<StepFunction> exact_steps(const TableData& data, at::ScalarType type);

}  // namespace fewbit

#pragma once

#include <cstdint>
#include <vector>

#include "kernels/activation/activation.hpp"
#include "ops/activation_arguments.hpp"

/// Checks of arguments that are about tables and functions, the same on every device and without
/// one. All throw c10::Error naming the operation, the argument, what was seen and what is
/// accepted.
namespace fewbit::ops {

/// A table in the types that the kernels read.
class StepArrays {
 public:
  /// Levels alone.
  StepArrays(const char* operation, Numbers levels, kernels::ElementType type);
  StepArrays(const char* operation, const TableArguments& table, kernels::ElementType type);
  StepArrays(const StepArrays&) = delete;
  StepArrays& operator=(const StepArrays&) = delete;

  /// Points into this object.
  const kernels::StepView& view() const { return view_; }

 private:
  kernels::StepView view_{};
  std::vector<float> thresholds_;
  std::vector<double> wide_thresholds_;
  std::vector<uint8_t> codes_;
  std::vector<float> levels_;
  std::vector<double> wide_levels_;
};

/// A function of the registry with parameter_count parameters; none given means the defaults.
struct FunctionCall {
  const kernels::Activation& function;
  std::vector<double> parameters;
};
FunctionCall check_call(const char* operation, c10::string_view function, Numbers parameters);

/// Bits of one code: the least that tells so many levels apart.
int bits_of(size_t levels);

inline constexpr const char* kActivationForward = "fewbit::activation_forward";
inline constexpr const char* kActivationBackward = "fewbit::activation_backward";

/// What is known without the function and the numbers of the table, `device` being the kernels'
/// own; the type of the elements.
kernels::ElementType check_forward(at::DeviceType device, const at::Tensor& x,
                                   const ActivationArguments& arguments);
kernels::ElementType check_backward(at::DeviceType device, const at::Tensor& dy,
                                    const at::Tensor& codes, Numbers levels);

}  // namespace fewbit::ops

#include "ops/table_arguments.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include <c10/util/Exception.h>

#include "ops/tensor_arguments.hpp"

namespace fewbit::ops {

namespace {

bool is_float(double number) {
  return static_cast<double>(static_cast<float>(number)) == number;
}

std::vector<float> floats_of(Numbers numbers) {
  std::vector<float> floats;
  floats.reserve(numbers.size());
  for (const double number : numbers) floats.push_back(static_cast<float>(number));
  return floats;
}

/// Whether double x needs more digits than floats have; where not, comparing with floats is faster.
bool is_wide(const TableArguments& table, kernels::ElementType type) {
  return type == kernels::ElementType::f64 &&
         !(std::all_of(table.thresholds.begin(), table.thresholds.end(), is_float) &&
           std::all_of(table.levels.begin(), table.levels.end(), is_float));
}

void check_levels(const char* operation, Numbers levels) {
  TORCH_CHECK(levels.size() >= 2 && levels.size() <= 256, operation, ": levels has ", levels.size(),
              " elements, accepted: 2 to 256");
}

}  // namespace

int bits_of(size_t levels) {
  return static_cast<int>(std::bit_width(std::max<size_t>(levels, 2) - 1));
}

StepArrays::StepArrays(const char* operation, Numbers levels, kernels::ElementType type) {
  check_levels(operation, levels);
  view_.bits = bits_of(levels.size());
  view_.level_count = static_cast<int>(levels.size());
  levels_ = floats_of(levels);
  view_.levels = levels_.data();
  if (type == kernels::ElementType::f64) {
    wide_levels_ = levels.vec();
    view_.wide_levels = wide_levels_.data();
  }
}

StepArrays::StepArrays(const char* operation, const TableArguments& table,
                       kernels::ElementType type)
    : StepArrays(operation, table.levels, type) {
  view_.even = table.even;
  if (table.is_unbiased()) return;
  const size_t count = table.thresholds.size();
  const size_t codes = table.codes.size();
  TORCH_CHECK(codes == count + 1 || codes == count + 2, operation, ": codes has ", codes,
              " elements, accepted: ", count + 1, ", one more than thresholds, or ", count + 2,
              " with the code of a NaN");
  TORCH_CHECK(count <= kernels::kMaxThresholds, operation, ": thresholds has ", count,
              " elements, accepted: at most ", kernels::kMaxThresholds);
  for (const int64_t code : table.codes) {
    TORCH_CHECK(code >= 0 && code < view_.level_count, operation, ": codes names level ", code,
                ", accepted: 0 to ", view_.level_count - 1);
    codes_.push_back(static_cast<uint8_t>(code));
  }
  view_.threshold_count = static_cast<int>(count);
  view_.codes = codes_.data();
  if (codes == count + 2) view_.nan_code = codes_.back();
  thresholds_ = floats_of(table.thresholds);
  view_.thresholds = thresholds_.data();
  if (is_wide(table, type)) {
    wide_thresholds_ = table.thresholds.vec();
    view_.wide_thresholds = wide_thresholds_.data();
  }
}

FunctionCall check_call(const char* operation, c10::string_view function, Numbers parameters) {
  const kernels::Activation* found = kernels::find_activation({function.data(), function.size()});
  TORCH_CHECK(found != nullptr, operation, ": unknown function '", function, "'");
  const auto count = static_cast<size_t>(found->parameter_count);
  TORCH_CHECK(parameters.empty() || parameters.size() == count, operation, ": ", found->name,
              " takes ", count, " parameters, not ", parameters.size());
  if (!parameters.empty()) return {*found, parameters.vec()};
  return {*found, {found->default_parameters, found->default_parameters + count}};
}

kernels::ElementType check_forward(at::DeviceType device, const at::Tensor& x,
                                   const ActivationArguments& arguments) {
  check_device(kActivationForward, "x", x, device);
  const kernels::ElementType type = check_element_type(kActivationForward, x);
  check_levels(kActivationForward, arguments.table.levels);
  if (arguments.table.is_unbiased()) check_seed(kActivationForward, arguments.seed, x);
  return type;
}

kernels::ElementType check_backward(at::DeviceType device, const at::Tensor& dy,
                                    const at::Tensor& codes, Numbers levels) {
  check_device(kActivationBackward, "dy", dy, device);
  const kernels::ElementType type = check_element_type(kActivationBackward, dy);
  check_levels(kActivationBackward, levels);
  check_codes(kActivationBackward, codes, dy, bits_of(levels.size()));
  return type;
}

}  // namespace fewbit::ops

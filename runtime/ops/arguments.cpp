#include "ops/arguments.hpp"

#include <algorithm>
#include <bit>

namespace fewbit::ops {

namespace {

void check_table_tensor(const char* operation, const char* argument, const at::Tensor& tensor,
                        at::ScalarType type) {
  TORCH_CHECK(tensor.device().is_cpu() && tensor.scalar_type() == type && tensor.dim() == 1 &&
                  tensor.is_contiguous(),
              operation, ": ", argument, " is a ", tensor.dim(), "-d tensor of ",
              tensor.scalar_type(), " on ", tensor.device(), ", accepted: contiguous 1-d ", type,
              " on the CPU");
}

/// Whether a table's tensor is one for double x.
bool is_of_doubles(const at::Tensor& tensor, kernels::ElementType type) {
  return type == kernels::ElementType::f64 && tensor.scalar_type() == at::kDouble;
}

}  // namespace

int bits_of(const at::Tensor& levels) {
  const int64_t count = levels.sym_numel().guard_int(__FILE__, __LINE__);
  const auto last = static_cast<uint64_t>(std::max<int64_t>(count, 2)) - 1;
  return static_cast<int>(std::bit_width(last));
}

kernels::StepView check_levels(const char* operation, const at::Tensor& levels,
                               kernels::ElementType type) {
  const bool is_wide = is_of_doubles(levels, type);
  check_table_tensor(operation, "levels", levels, is_wide ? at::kDouble : at::kFloat);
  TORCH_CHECK(levels.numel() >= 2 && levels.numel() <= 256, operation, ": levels has ",
              levels.numel(), " elements, accepted: 2 to 256");
  kernels::StepView view{};
  view.bits = bits_of(levels);
  view.level_count = static_cast<int>(levels.numel());
  if (is_wide) {
    view.wide_levels = levels.const_data_ptr<double>();
  } else {
    view.levels = levels.const_data_ptr<float>();
  }
  return view;
}

kernels::StepView check_step(const char* operation, const StepTensors& step,
                             kernels::ElementType type) {
  kernels::StepView view = check_levels(operation, step.levels, type);
  const bool is_wide = view.wide_levels != nullptr;
  check_table_tensor(operation, "thresholds", step.thresholds, is_wide ? at::kDouble : at::kFloat);
  check_table_tensor(operation, "interval_codes", step.interval_codes, at::kByte);
  view.even = step.even;
  const int64_t count = step.thresholds.numel();
  if (step.interval_codes.numel() == 0 && count == 0) {
    TORCH_CHECK(!is_wide, operation, ": levels are of double, accepted: float for a table that ",
                "draws its codes");
    return view;
  }
  const int64_t codes = step.interval_codes.numel();
  TORCH_CHECK(codes == count + 1 || codes == count + 2, operation, ": interval_codes has ", codes,
              " elements, accepted: ", count + 1, ", one more than thresholds, or ", count + 2,
              " with the code of a NaN");
  TORCH_CHECK(count <= kernels::kMaxThresholds, operation, ": thresholds has ", count,
              " elements, accepted: at most ", kernels::kMaxThresholds);
  view.threshold_count = static_cast<int>(count);
  if (is_wide) {
    view.wide_thresholds = step.thresholds.const_data_ptr<double>();
  } else {
    view.thresholds = step.thresholds.const_data_ptr<float>();
  }
  view.codes = step.interval_codes.const_data_ptr<uint8_t>();
  if (codes == count + 2) view.nan_code = view.codes[codes - 1];
  const bool known = std::all_of(view.codes, view.codes + codes,
                                 [&](uint8_t code) { return code < view.level_count; });
  TORCH_CHECK(known, operation, ": interval_codes names a level beyond the ", view.level_count,
              " of levels");
  return view;
}

void check_device(const char* operation, const char* argument, const at::Tensor& tensor,
                  at::DeviceType device) {
  TORCH_CHECK(tensor.device().type() == device, operation, ": ", argument, " is on ",
              tensor.device(), ", but another argument on ", at::DeviceTypeName(device, true));
}

kernels::ElementType check_element_type(const char* operation, const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return kernels::ElementType::f32;
    case at::kBFloat16:
      return kernels::ElementType::bf16;
    case at::kHalf:
      return kernels::ElementType::f16;
    case at::kDouble:
      return kernels::ElementType::f64;
    default:
      TORCH_CHECK(false, operation, ": a tensor of ", tensor.scalar_type(),
                  ", accepted: float, bfloat16, half, double");
  }
}

const kernels::Activation& check_function(const char* operation, const std::string& function) {
  const kernels::Activation* found = kernels::find_activation(function);
  TORCH_CHECK(found != nullptr, operation, ": unknown function '", function, "'");
  return *found;
}

std::vector<double> check_parameters(const char* operation, const kernels::Activation& function,
                                     at::ArrayRef<double> parameters) {
  const auto count = static_cast<size_t>(function.parameter_count);
  TORCH_CHECK(parameters.empty() || parameters.size() == count, operation, ": ", function.name,
              " takes ", count, " parameters, not ", parameters.size());
  if (!parameters.empty()) return parameters.vec();
  return {function.default_parameters, function.default_parameters + count};
}

c10::SymInt code_bytes(const c10::SymInt& count, int bits) {
  return ((count * bits + 7) / 8 + 15) / 16 * 16;
}

void check_codes(const char* operation, const at::Tensor& codes, const at::Tensor& dy, int bits) {
  TORCH_CHECK(codes.scalar_type() == at::kByte && codes.dim() == 1 && codes.is_contiguous(),
              operation, ": codes is a ", codes.dim(), "-d tensor of ", codes.scalar_type(),
              ", accepted: contiguous 1-d uint8");
  TORCH_CHECK(codes.device() == dy.device(), operation, ": codes is on ", codes.device(),
              ", but dy on ", dy.device());
  const c10::SymInt bytes = code_bytes(dy.sym_numel(), bits);
  TORCH_CHECK(codes.sym_numel() == bytes, operation, ": codes has ", codes.sym_numel(),
              " bytes, accepted: ", bytes, ", which ", dy.sym_numel(), " codes of ", bits,
              " bits take");
}

}  // namespace fewbit::ops

#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/Exception.h>

#include "kernels/quantizer/normal_bins.hpp"
#include "ops/tensor_arguments.hpp"

// The operations of ops/normal_bins.hpp as every device runs them: arguments checked, results
// allocated, and a device's passes between.

namespace fewbit::ops {

inline constexpr const char* kNormalBinsEncode = "fewbit::normal_bins_encode";
inline constexpr const char* kNormalBinsDecode = "fewbit::normal_bins_decode";

inline kernels::ElementType check_bins(const char* operation, int64_t bits, at::ScalarType dtype) {
  TORCH_CHECK_VALUE(bits >= 1 && bits <= 8, operation, ": bits is ", bits, ", accepted: 1 to 8");
  TORCH_CHECK_TYPE(dtype != at::kDouble, operation, ": no double is accepted");
  return check_element_type(operation, dtype);
}

inline kernels::ElementType check_bins_encoding(at::DeviceType device, const at::Tensor& x,
                                                int64_t bits) {
  check_device(kNormalBinsEncode, "x", x, device);
  TORCH_CHECK_VALUE(x.is_contiguous(), kNormalBinsEncode, ": x is not contiguous");
  return check_bins(kNormalBinsEncode, bits, x.scalar_type());
}

inline kernels::ElementType check_bins_decoding(at::DeviceType device, const at::Tensor& codes,
                                                const c10::SymInt& count, int64_t bits,
                                                at::ScalarType dtype) {
  check_device(kNormalBinsDecode, "codes", codes, device);
  const kernels::ElementType type = check_bins(kNormalBinsDecode, bits, dtype);
  check_stream(kNormalBinsDecode, codes, count, static_cast<int>(bits));
  return type;
}

/// Numbers beside the elements, and for how many neighbours each stands.
struct CycleArgument {
  const char* name;
  const at::Tensor& numbers;  ///< float [rows, count]
  int64_t run;

  kernels::Cycle check(const char* operation, int64_t rows, const at::Tensor& beside) const {
    check_device(operation, name, numbers, beside.device().type());
    TORCH_CHECK_VALUE(numbers.scalar_type() == at::kFloat && numbers.dim() == 2 &&
                          numbers.size(0) == rows && numbers.size(1) > 0 && numbers.is_contiguous(),
                      operation, ": ", name, " is ", numbers.toString(), " ", numbers.sizes(),
                      ", accepted: float [", rows, ", n], contiguous, n of 1 and more");
    TORCH_CHECK_VALUE(run > 0, operation, ": ", name, "_run is ", run, ", accepted: 1 and more");
    return {run, numbers.size(1)};
  }

  const float* row(int64_t i) const {
    return numbers.const_data_ptr<float>() + i * numbers.size(1);
  }
};

inline kernels::NormalBins check_numbers(const char* operation, int64_t bits,
                                         const CycleArgument& statistics,
                                         const CycleArgument& weights, const at::Tensor& beside) {
  const kernels::Cycle of_statistics = statistics.check(operation, 2, beside);
  const kernels::Cycle of_weights = weights.check(operation, 4, beside);
  return {static_cast<int>(bits), kernels::width_of_bins(static_cast<int>(bits)),
          of_statistics,          statistics.row(0),
          statistics.row(1),      of_weights,
          weights.row(0),         weights.row(1),
          weights.row(2),         weights.row(3)};
}

/// `Device` has kType and the static functions, of memory on the current device,
///   encode(operation, ElementType, NormalBins, x, codes, count)
///   decode(operation, ElementType, NormalBins, codes, x, count)
template <class Device>
struct NormalBinsOperations {
  static at::Tensor encode(const at::Tensor& x, const at::Tensor& statistics,
                           int64_t statistics_run, const at::Tensor& weights, int64_t weights_run,
                           int64_t bits) {
    const kernels::ElementType type = check_bins_encoding(Device::kType, x, bits);
    const kernels::NormalBins bins =
        check_numbers(kNormalBinsEncode, bits, {"statistics", statistics, statistics_run},
                      {"weights", weights, weights_run}, x);
    const c10::DeviceGuard guard(x.device());
    at::Tensor codes = empty_codes(x.numel(), bins.bits, x.options());
    Device::encode(kNormalBinsEncode, type, bins, x.const_data_ptr(),
                   codes.mutable_data_ptr<uint8_t>(), x.numel());
    return codes;
  }

  static at::Tensor decode(const at::Tensor& codes, int64_t count, const at::Tensor& statistics,
                           int64_t statistics_run, const at::Tensor& weights, int64_t weights_run,
                           int64_t bits, at::ScalarType dtype) {
    const kernels::ElementType type = check_bins_decoding(Device::kType, codes, count, bits, dtype);
    const kernels::NormalBins bins =
        check_numbers(kNormalBinsDecode, bits, {"statistics", statistics, statistics_run},
                      {"weights", weights, weights_run}, codes);
    const c10::DeviceGuard guard(codes.device());
    at::Tensor x = at::empty({count}, codes.options().dtype(dtype));
    Device::decode(kNormalBinsDecode, type, bins, codes.const_data_ptr<uint8_t>(),
                   x.mutable_data_ptr(), count);
    return x;
  }
};

}  // namespace fewbit::ops

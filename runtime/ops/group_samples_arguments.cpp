#include "ops/group_samples_arguments.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <c10/util/Exception.h>
#include <c10/util/accumulate.h>

#include "kernels/quantizer/group_samples.hpp"
#include "ops/tensor_arguments.hpp"

namespace fewbit::ops {

namespace {

constexpr int64_t kAnyBits = 1;  // each sample has its own

/// As many samples in x as there are bits; the elements of each.
c10::SymInt check_samples(const char* operation, const at::Tensor& x, const at::Tensor& bits) {
  check_sample_bits(operation, bits, x);
  TORCH_CHECK(x.dim() > 0 && x.sym_size(0) == bits.sym_numel(), operation, ": x is ", x.sym_sizes(),
              ", but bits has ", bits.sym_numel(),
              " elements, accepted: one for each index of dimension 0");
  const c10::SymIntArrayRef sizes = x.sym_sizes().slice(1);
  return c10::multiply_integers(sizes);
}

}  // namespace

void check_sample_bits(const char* operation, const at::Tensor& bits, const at::Tensor& beside) {
  TORCH_CHECK(bits.device() == beside.device(), operation, ": bits is on ", bits.device(),
              ", but another argument on ", beside.device());
  TORCH_CHECK(bits.scalar_type() == at::kByte && bits.dim() == 1 && bits.is_contiguous(), operation,
              ": bits is a ", bits.dim(), "-d tensor of ", bits.scalar_type(),
              ", accepted: contiguous 1-d uint8");
}

c10::SymInt sample_group_count(const at::Tensor& bits, const c10::SymInt& count, int64_t group) {
  return bits.sym_numel() * group_count(count, group);
}

SampleRun check_sample_encoding(at::DeviceType device, const at::Tensor& x, const at::Tensor& bits,
                                int64_t group, c10::string_view rounding,
                                const std::optional<at::Tensor>& seed, int64_t offset) {
  check_device(kSamplesEncode, "x", x, device);
  const kernels::ElementType type = check_element_type(kSamplesEncode, x);
  const kernels::GroupFormat format = check_group(kSamplesEncode, kernels::encoding_draws, type,
                                                  {kAnyBits, group, rounding, seed, offset}, x);
  return {format, check_samples(kSamplesEncode, x, bits)};
}

kernels::GroupFormat check_sample_decoding(at::DeviceType device, const at::Tensor& codes,
                                           const at::Tensor& constants, const at::Tensor& bits,
                                           const c10::SymInt& count, int64_t group,
                                           c10::string_view rounding, at::ScalarType dtype,
                                           const std::optional<at::Tensor>& seed, int64_t offset) {
  check_device(kSamplesDecode, "codes", codes, device);
  const kernels::ElementType type = check_element_type(kSamplesDecode, dtype);
  const kernels::GroupFormat format = check_group(kSamplesDecode, kernels::decoding_draws, type,
                                                  {kAnyBits, group, rounding, seed, offset}, codes);
  check_sample_bits(kSamplesDecode, bits, codes);
  check_count(kSamplesDecode, count);
  check_stream_type(kSamplesDecode, codes);
  check_constants(kSamplesDecode, codes, constants, sample_group_count(bits, count, group), type);
  return format;
}

std::vector<int64_t> sample_offsets(const char* operation, const at::Tensor& bits, int64_t count) {
  const auto* values = bits.const_data_ptr<uint8_t>();
  for (int64_t i = 0; i < bits.numel(); ++i) {
    TORCH_CHECK(values[i] >= 1 && values[i] <= 8, operation, ": bits[", i, "] is ",
                static_cast<int>(values[i]), ", accepted: 1 to 8");
  }
  return kernels::code_offsets(values, bits.numel(), count);
}

at::Tensor check_sample_bytes(const char* operation, const std::string& seen, int64_t bytes,
                              const at::Tensor& bits, int64_t count) {
  const std::vector<int64_t> offsets = sample_offsets(operation, bits, count);
  const int64_t wanted = offsets.back();
  TORCH_CHECK(bytes == wanted, operation, ": ", seen, ", accepted: ", wanted, ", which ",
              bits.numel(), " samples of ", count, " elements take in these bits");
  return at::tensor(offsets, at::kLong);
}

at::Tensor check_sample_bytes_later(const char* operation, const std::string& seen, int64_t bytes,
                                    const at::Tensor& bits, int64_t count) {
  const at::Tensor wide = bits.to(at::kLong);
  const at::Tensor taken = (wide * count + 127).bitwise_right_shift(7) * 16;  // code_bytes
  at::Tensor offsets = at::constant_pad_nd(taken.cumsum(0), {1, 0});
  const at::Tensor is_accepted = ((wide >= 1) & (wide <= 8)).all() & (offsets[-1] == bytes);
  at::_assert_async(is_accepted, c10::str(operation, ": ", seen, ", which is not what samples of ",
                                          count, " elements take, or bits are not 1 to 8"));
  return offsets;
}

}  // namespace fewbit::ops

#include "ops/rotated_by_class.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/where.h>

#include "kernels/quantizer/rotated.hpp"
#include "ops/integers.hpp"
#include "ops/ranges.hpp"
#include "ops/rotated_arguments.hpp"
#include "ops/tensor_arguments.hpp"

namespace fewbit::ops {

namespace {

/// Elements that moments are taken of.
constexpr int64_t kSampled = 4096;

bool has_kernel(c10::Device device, at::ScalarType type) {
  return device.is_cpu() && type != at::kDouble;
}

/// An odd number, so that all of a power of two is met.
int64_t step_of(const at::Tensor& run) {
  return run.numel() / kSampled | 1;
}

at::Tensor sampled(const at::Tensor& run) {
  const int64_t step = step_of(run);
  return run.as_strided({(run.numel() + step - 1) / step}, {step});
}

/// One element after the other, out of memory.
ClassMoments moments_of(const at::Tensor& run, const ElementClasses& classes, int count) {
  const at::Tensor sample = sampled(run).to(at::kDouble);
  const auto* x = sample.const_data_ptr<double>();
  const auto* codes = classes.codes.const_data_ptr<uint8_t>();
  const int64_t last = classes.codes.numel() - 1;
  const auto class_of = [&, bits = classes.bits, step = step_of(run)](int64_t i) {
    const int64_t bit = i * step * bits;
    const int word = codes[bit / 8] | codes[std::min(bit / 8 + 1, last)] << 8;
    return static_cast<size_t>(word >> bit % 8 & ((1 << bits) - 1)) % kMostClasses;
  };
  // About one element, lest squares cancel.
  double middle = 0.0;
  for (int64_t i = 0; i < sample.numel(); ++i) {
    if (std::isfinite(x[i])) middle = x[i];
  }
  struct Sums {
    double count = 0.0, sum = 0.0, squares = 0.0;

    void add(double v) {
      count += 1.0;
      sum += v;
      squares += v * v;
    }
    double mean() const { return sum / std::max(count, 1.0); }
    double deviation() const {
      return std::sqrt(std::max(squares / std::max(count, 1.0) - mean() * mean(), 0.0));
    }
  } all, of_class[kMostClasses];
  for (int64_t i = 0; i < sample.numel(); ++i) {
    if (!std::isfinite(x[i])) continue;
    all.add(x[i] - middle);
    of_class[class_of(i)].add(x[i] - middle);
  }
  const at::Tensor mean = at::empty({count}, at::kDouble), deviation = at::empty_like(mean);
  for (int c = 0; c < count; ++c) {
    const Sums& sums = of_class[c].count < 2.0 ? all : of_class[c];
    mean.mutable_data_ptr<double>()[c] = sums.mean() + middle;
    deviation.mutable_data_ptr<double>()[c] = sums.deviation();
  }
  return {mean, deviation};
}

/// The same by torch's operations.
ClassMoments moments_by_torch(const at::Tensor& run, const ElementClasses& classes, int count) {
  const at::Tensor all = sampled(run).to(at::kDouble);
  const at::Tensor is_finite = all.isfinite();
  const at::Tensor total = is_finite.sum().clamp_min_(1);
  const at::Tensor middle = at::where(is_finite, all, 0.0).sum().div(total);
  const at::Tensor x = at::where(is_finite, all.sub(middle), 0.0);
  const at::Tensor each = sampled(classes.bytes(run.numel()));
  const at::Tensor index = at::arange(count, each.options()).unsqueeze(1);
  const at::Tensor members = each.eq(index).logical_and_(is_finite).to(at::kDouble);
  const at::Tensor counts = members.sum(1);
  const at::Tensor known = counts.clamp_min(1.0);
  const at::Tensor mean = at::matmul(members, x).div_(known);
  const at::Tensor squares = at::matmul(members, x.square()).div_(known);
  const at::Tensor variance = squares.sub(mean.square()).clamp_min_(0.0);
  const at::Tensor is_met = counts.ge(2.0);
  return {at::where(is_met, mean, 0.0).add_(middle),
          at::where(is_met, variance, x.square().sum().div(total)).sqrt_()};
}

at::Tensor mapped(const at::Tensor& x, const ElementClasses& classes, const ClassMap& map) {
  const at::Tensor index = classes.bytes(x.numel()).to(at::kInt);
  return x.to(map.scale.scalar_type())
      .mul(map.scale.index_select(0, index))
      .add_(map.shift.index_select(0, index));
}

double largest_of(at::ScalarType type) {
  if (type == at::kDouble) return std::numeric_limits<double>::max();
  return kernels::finite_limit(check_element_type(kRotatedDecode, type));
}

kernels::ElementClasses kernel_classes(const char* operation, const ElementClasses& classes,
                                       const ClassMap& map, int64_t count) {
  check_stream(operation, classes.codes, count, classes.bits);
  kernels::ElementClasses result{classes.codes.const_data_ptr<uint8_t>(), classes.bits, {}};
  std::copy_n(map.scale.const_data_ptr<float>(), map.scale.numel(), result.map.scale);
  std::copy_n(map.shift.const_data_ptr<float>(), map.shift.numel(), result.map.shift);
  return result;
}

kernels::RotatedFormat format_of(kernels::ElementType type, const RotatedCodes& form, int64_t count,
                                 const RandomStream& random,
                                 const kernels::ElementClasses& classes) {
  kernels::RotatedFormat format = rotated_format(type, form, count, random.offset);
  format.signs.seed = static_cast<uint64_t>(*random.seed.const_data_ptr<int64_t>());
  format.classes = &classes;
  return format;
}

}  // namespace

at::Tensor ElementClasses::bytes(int64_t count) const {
  return integer_decode(codes, count, 0, bits, at::kByte);
}

ClassMoments class_moments(const at::Tensor& run, const ElementClasses& classes, int count) {
  check_stream(kRotatedEncode, classes.codes, run.numel(), classes.bits);
  const bool is_here = has_kernel(run.device(), run.scalar_type());
  return is_here ? moments_of(run, classes, count) : moments_by_torch(run, classes, count);
}

std::tuple<at::Tensor, at::Tensor> rotated_encode(const at::Tensor& x,
                                                  const ElementClasses& classes,
                                                  const ClassMap& map, const RotatedCodes& form,
                                                  const RandomStream& random) {
  if (!has_kernel(x.device(), x.scalar_type())) {
    return rotated_encode(mapped(x, classes, map), form, random);
  }
  const auto type = check_rotated_encoding(x, form, random.seed);
  const auto of_elements = kernel_classes(kRotatedEncode, classes, map, x.numel());
  const kernels::RotatedFormat format = format_of(type, form, x.numel(), random, of_elements);
  const auto [codes, constants] = empty_rotated(x.numel(), form, type, x.options());
  for_parts(format.groups(), kGrainElements / format.group,
            [&, from = x.const_data_ptr(), to = codes.mutable_data_ptr<uint8_t>(),
             beside = constants.mutable_data_ptr()](int64_t begin, int64_t end) {
              kernels::rotated_encode(format, from, to, beside, {begin, end});
            });
  return {codes, constants};
}

at::Tensor rotated_decode(const at::Tensor& codes, const at::Tensor& constants, int64_t count,
                          const ElementClasses& classes, const ClassMap& map,
                          const RotatedCodes& form, at::ScalarType dtype,
                          const RandomStream& random) {
  if (!has_kernel(codes.device(), dtype)) {
    const at::Tensor left =
        rotated_decode(codes, constants, count, form, map.scale.scalar_type(), random);
    const double largest = largest_of(dtype);
    return mapped(left, classes, map).clamp_(-largest, largest).to(dtype);
  }
  const auto type = check_rotated_decoding(codes, constants, count, form, dtype, random.seed);
  const auto of_elements = kernel_classes(kRotatedDecode, classes, map, count);
  const kernels::RotatedFormat format = format_of(type, form, count, random, of_elements);
  at::Tensor x = at::empty({count}, codes.options().dtype(dtype));
  for_parts(format.groups(), kGrainElements / format.group,
            [&, from = codes.const_data_ptr<uint8_t>(), beside = constants.const_data_ptr(),
             to = x.mutable_data_ptr()](int64_t begin, int64_t end) {
              kernels::rotated_decode(format, from, beside, to, {begin, end});
            });
  return x;
}

}  // namespace fewbit::ops

#include "ops/normal_bins.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <ATen/ExpandUtils.h>
#include <ATen/ops/broadcast_tensors.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/where.h>
#include <c10/util/accumulate.h>

#include "kernels/quantizer/normal_bins.hpp"
#include "ops/integers.hpp"
#include "ops/ranges.hpp"
#include "ops/tensor_arguments.hpp"

namespace fewbit::ops {

namespace {

/// Deviations that bins reach to either side of the mean.
constexpr double kReach = 3.0;

/// Of u, a row of them for each weight.
struct Bins {
  at::Tensor zero;   ///< where the output is 0
  at::Tensor first;  ///< where the first bin begins
  at::Tensor shift;  ///< the first code of outputs that are not negative
  double width;
  int last;  ///< code

  Bins(const at::Tensor& ratio, int bits)
      : zero(ratio.neg()), width(2.0 * kReach / (1 << bits)), last((1 << bits) - 1) {
    const at::Tensor whole = ratio.div(width).floor_();
    const at::Tensor wanted = whole.neg().add_((last + 1) / 2);
    shift = wanted.clamp(1, last);
    const at::Tensor even = whole.mul(width).sub_(ratio).sub_(kReach);
    const at::Tensor above = at::where(wanted.lt(1), -kReach - 0.5 * width, even);
    const at::Tensor below =
        ratio.neg().sub_(2.0 * kReach - width).clamp_max_(0.5 * width - kReach);
    first = at::where(wanted.gt(last), below, above);
  }

  at::Tensor codes(const at::Tensor& u) const {
    const at::Tensor code = at::sub(u, first).mul_(1.0 / width).floor_().clamp_(0, last);
    return at::nan_to_num(
        at::where(u.ge(zero), at::maximum(code, shift), at::minimum(code, shift.sub(1))));
  }

  at::Tensor middles(const at::Tensor& codes) const {
    const at::Tensor middle = at::add(codes, 0.5).mul_(width).add_(first);
    return at::where(codes.ge(shift), at::maximum(middle, zero.add(0.5 * width)),
                     at::minimum(middle, zero.sub(0.5 * width)));
  }
};

double largest_of(at::ScalarType type) {
  if (type == at::kDouble) return std::numeric_limits<double>::max();
  return kernels::finite_limit(check_element_type("fewbit::normal_bins_decode", type));
}

bool has_kernel(c10::Device device, at::ScalarType type) {
  return device.is_cpu() && type != at::kDouble;
}

/// Numbers that broadcast with x, in the order of its memory, from the first dimension that they
/// differ along to the last.
struct Cycled {
  kernels::Cycle cycle;
  std::vector<at::Tensor> numbers;

  Cycled(const std::vector<at::Tensor>& beside, at::IntArrayRef sizes, at::IntArrayRef strides) {
    std::vector<int64_t> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
      return strides[static_cast<size_t>(a)] > strides[static_cast<size_t>(b)];
    });
    const std::vector<int64_t> all_sizes = at::broadcast_tensors(beside)[0].sizes().vec();
    const auto dimensions = static_cast<int64_t>(sizes.size());
    const auto size = [&](int64_t i) {
      return sizes[static_cast<size_t>(order[static_cast<size_t>(i)])];
    };
    const auto varies = [&](int64_t i) {
      const int64_t place =
          order[static_cast<size_t>(i)] + static_cast<int64_t>(all_sizes.size()) - dimensions;
      return place >= 0 && all_sizes[static_cast<size_t>(place)] > 1;
    };
    int64_t first = 0, last = dimensions - 1;
    while (last >= 0 && !varies(last)) cycle.run *= size(last--);
    while (first < last && !varies(first)) ++first;
    for (int64_t i = first; i <= last; ++i) cycle.count *= size(i);
    for (const at::Tensor& each : beside) {
      at::Tensor all = each.expand(sizes).permute(order);
      for (int64_t i = 0; i < all.dim(); ++i) {
        if (i < first || i > last) all = all.narrow(i, 0, 1);
      }
      numbers.push_back(all.to(at::kFloat).contiguous());
    }
  }

  const float* of(size_t i) const { return numbers[i].const_data_ptr<float>(); }
};

/// What a kernel takes; scale: what it multiplies by.
template <class Run>
void with_kernel_bins(at::IntArrayRef sizes, at::IntArrayRef strides, const NormNumbers& numbers,
                      const at::Tensor& scale, int bits, const Run& run) {
  const Bins bins(numbers.ratio, bits);
  const Cycled statistics({numbers.mean, scale}, sizes, strides);
  const Cycled weights({numbers.sign, bins.zero, bins.first, bins.shift}, sizes, strides);
  const kernels::NormalBins all{bits,
                                static_cast<float>(bins.width),
                                statistics.cycle,
                                statistics.of(0),
                                statistics.of(1),
                                weights.cycle,
                                weights.of(0),
                                weights.of(1),
                                weights.of(2),
                                weights.of(3)};
  for_ranges(c10::multiply_integers(sizes), [&](const kernels::Range& range) { run(all, range); });
}

}  // namespace

at::Tensor normal_bins_encode(const at::Tensor& x, const NormNumbers& numbers, int bits) {
  const at::Tensor scale = numbers.deviation.reciprocal();
  if (!has_kernel(x.device(), x.scalar_type())) {
    const at::Tensor u = at::sub(x, numbers.mean).mul_(scale).mul_(numbers.sign);
    at::Tensor codes = at::empty_like(x, x.options().dtype(at::kByte));
    if (!x.is_meta()) codes.copy_(Bins(numbers.ratio, bits).codes(u));
    return integer_encode(codes, 0, bits);
  }
  at::Tensor codes =
      at::empty({kernels::code_bytes(x.numel(), bits)}, x.options().dtype(at::kByte));
  const auto type = check_element_type("fewbit::normal_bins_encode", x);
  auto* const to = codes.mutable_data_ptr<uint8_t>();
  with_kernel_bins(
      x.sizes(), x.strides(), numbers, scale, bits,
      [&, from = x.const_data_ptr()](const kernels::NormalBins& bins, const kernels::Range& range) {
        kernels::normal_bins_encode(type, bins, from, to, range);
      });
  return codes;
}

at::Tensor normal_bins_decode(const at::Tensor& codes, at::IntArrayRef sizes,
                              at::IntArrayRef strides, at::ScalarType dtype,
                              const NormNumbers& numbers, int bits) {
  at::Tensor x = at::empty_strided(sizes, strides, codes.options().dtype(dtype));
  if (!has_kernel(codes.device(), dtype)) {
    const at::Tensor whole = integer_decode(codes, x.numel(), 0, bits, at::kByte);
    const at::Tensor u =
        Bins(numbers.ratio, bits)
            .middles(whole.as_strided(sizes, strides).to(numbers.mean.scalar_type()));
    const double largest = largest_of(dtype);
    x.copy_(
        u.mul(numbers.sign).mul_(numbers.deviation).add_(numbers.mean).clamp_(-largest, largest));
    return x;
  }
  const auto type = check_element_type("fewbit::normal_bins_decode", dtype);
  auto* const to = x.mutable_data_ptr();
  with_kernel_bins(sizes, strides, numbers, numbers.deviation, bits,
                   [&, from = codes.const_data_ptr<uint8_t>()](const kernels::NormalBins& bins,
                                                               const kernels::Range& range) {
                     kernels::normal_bins_decode(type, bins, from, to, range);
                   });
  return x;
}

}  // namespace fewbit::ops

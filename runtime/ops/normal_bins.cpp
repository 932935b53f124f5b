#include "ops/normal_bins.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <ATen/ExpandUtils.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/broadcast_tensors.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/where.h>
#include <c10/util/accumulate.h>
#include <torch/library.h>

#include "ops/find.hpp"
#include "ops/integers.hpp"
#include "ops/layout.hpp"
#include "ops/normal_bins_passes.hpp"
#include "ops/ranges.hpp"

TORCH_LIBRARY_FRAGMENT(fewbit, m) {
  m.def(
      "normal_bins_encode(Tensor x, Tensor statistics, int statistics_run, Tensor weights, "
      "int weights_run, int bits) -> Tensor");
  m.def(
      "normal_bins_decode(Tensor codes, SymInt count, Tensor statistics, int statistics_run, "
      "Tensor weights, int weights_run, int bits, ScalarType dtype) -> Tensor");
}

namespace fewbit::ops {

namespace {

constexpr double kReach = static_cast<double>(kernels::kReachOfBins);

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

/// Numbers that broadcast with x, in the order of its memory, from the first dimension that they
/// differ along to the last.
struct Cycled {
  at::Tensor numbers;  ///< float, a row of each
  int64_t run = 1;

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
    while (last >= 0 && !varies(last)) run *= size(last--);
    while (first < last && !varies(first)) ++first;
    std::vector<at::Tensor> rows;
    for (const at::Tensor& each : beside) {
      at::Tensor all = each.expand(sizes).permute(order);
      for (int64_t i = 0; i < all.dim(); ++i) {
        if (i < first || i > last) all = all.narrow(i, 0, 1);
      }
      rows.push_back(all);
    }
    numbers = at::stack(rows).to(at::kFloat).flatten(1);
  }
};

/// What an operation takes; scale: what it multiplies by.
struct Cycles {
  Cycled statistics, weights;

  Cycles(at::IntArrayRef sizes, at::IntArrayRef strides, const NormNumbers& numbers,
         const at::Tensor& scale, const Bins& bins)
      : statistics({numbers.mean, scale}, sizes, strides),
        weights({numbers.sign, bins.zero, bins.first, bins.shift}, sizes, strides) {}
};

struct NormalBinsCpu {
  static constexpr at::DeviceType kType = at::kCPU;

  static void encode(const char*, kernels::ElementType type, const kernels::NormalBins& bins,
                     const void* x, uint8_t* codes, int64_t count) {
    for_ranges(count, [&](const kernels::Range& range) {
      kernels::normal_bins_encode(type, bins, x, codes, range);
    });
  }

  static void decode(const char*, kernels::ElementType type, const kernels::NormalBins& bins,
                     const uint8_t* codes, void* x, int64_t count) {
    for_ranges(count, [&](const kernels::Range& range) {
      kernels::normal_bins_decode(type, bins, codes, x, range);
    });
  }
};

// Shapes without data, sizes symbolic.

at::Tensor encode_bins_shapes(const at::Tensor& x, const at::Tensor&, int64_t, const at::Tensor&,
                              int64_t, int64_t bits) {
  check_bins_encoding(at::kMeta, x, bits);
  return empty_codes(x.sym_numel(), static_cast<int>(bits), x.options());
}

at::Tensor decode_bins_shapes(const at::Tensor& codes, c10::SymInt count, const at::Tensor&,
                              int64_t, const at::Tensor&, int64_t, int64_t bits,
                              at::ScalarType dtype) {
  check_bins_decoding(at::kMeta, codes, count, bits, dtype);
  return at::empty_symint({std::move(count)}, codes.options().dtype(dtype));
}

using BinsEncode = at::Tensor(const at::Tensor&, const at::Tensor&, int64_t, const at::Tensor&,
                              int64_t, int64_t);
using BinsDecode = at::Tensor(const at::Tensor&, c10::SymInt, const at::Tensor&, int64_t,
                              const at::Tensor&, int64_t, int64_t, at::ScalarType);

/// Doubles, whose squares no kernel has.
at::Tensor encode_bins_by_torch(const at::Tensor& x, const NormNumbers& numbers,
                                const at::Tensor& scale, int bits) {
  const at::Tensor u = at::sub(x, numbers.mean).mul_(scale).mul_(numbers.sign);
  at::Tensor codes = at::empty_like(x, x.options().dtype(at::kByte));
  codes.copy_(Bins(numbers.ratio, bits).codes(u));
  return integer_encode(codes, 0, bits);
}

at::Tensor decode_bins_by_torch(const at::Tensor& codes, at::IntArrayRef sizes,
                                at::IntArrayRef strides, const NormNumbers& numbers, int bits) {
  at::Tensor x = at::empty_strided(sizes, strides, codes.options().dtype(at::kDouble));
  const at::Tensor whole = integer_decode(codes, x.numel(), 0, bits, at::kByte);
  const at::Tensor u =
      Bins(numbers.ratio, bits).middles(whole.as_strided(sizes, strides).to(at::kDouble));
  constexpr double kLargest = std::numeric_limits<double>::max();
  x.copy_(
      u.mul(numbers.sign).mul_(numbers.deviation).add_(numbers.mean).clamp_(-kLargest, kLargest));
  return x;
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CPU, m) {
  m.impl("normal_bins_encode", NormalBinsOperations<NormalBinsCpu>::encode);
  m.impl("normal_bins_decode", NormalBinsOperations<NormalBinsCpu>::decode);
}

TORCH_LIBRARY_IMPL(fewbit, Meta, m) {
  m.impl("normal_bins_encode", encode_bins_shapes);
  m.impl("normal_bins_decode", decode_bins_shapes);
}

at::Tensor normal_bins_encode(const at::Tensor& x, const NormNumbers& numbers, int bits) {
  if (x.is_meta()) return empty_codes(x.sym_numel(), bits, x.options());  // bytes alone
  const at::Tensor scale = numbers.deviation.reciprocal();
  if (x.scalar_type() == at::kDouble) return encode_bins_by_torch(x, numbers, scale, bits);
  const auto [statistics, weights] =
      Cycles(x.sizes(), x.strides(), numbers, scale, Bins(numbers.ratio, bits));
  static const auto operation = find<BinsEncode>(kNormalBinsEncode);
  return operation.call(seen_as(x, {x.numel()}, {1}), statistics.numbers, statistics.run,
                        weights.numbers, weights.run, bits);
}

at::Tensor normal_bins_decode(const at::Tensor& codes, at::IntArrayRef sizes,
                              at::IntArrayRef strides, at::ScalarType dtype,
                              const NormNumbers& numbers, int bits) {
  if (dtype == at::kDouble) return decode_bins_by_torch(codes, sizes, strides, numbers, bits);
  const auto [statistics, weights] =
      Cycles(sizes, strides, numbers, numbers.deviation, Bins(numbers.ratio, bits));
  static const auto operation = find<BinsDecode>(kNormalBinsDecode);
  const at::Tensor run = operation.call(codes, c10::multiply_integers(sizes), statistics.numbers,
                                        statistics.run, weights.numbers, weights.run, bits, dtype);
  return seen_as(run, sizes, strides);
}

}  // namespace fewbit::ops

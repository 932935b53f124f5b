#include "ops/rotated_by_class.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <torch/library.h>

#include "ops/find.hpp"
#include "ops/integers.hpp"
#include "ops/ranges.hpp"
#include "ops/rotated_class_passes.hpp"

TORCH_LIBRARY_FRAGMENT(fewbit, m) {
  m.def(
      "class_maps(Tensor x, Tensor classes, int class_bits, int count, int zero)"
      " -> (Tensor there, Tensor back)");
  m.def(
      "rotated_class_encode(Tensor x, Tensor classes, int class_bits, Tensor map, int bits, "
      "int group, int states, Tensor seed, int offset) -> (Tensor codes, Tensor constants)");
  m.def(
      "rotated_class_decode(Tensor codes, Tensor constants, SymInt count, Tensor classes, "
      "int class_bits, Tensor map, int bits, int group, int states, ScalarType dtype, "
      "Tensor seed, int offset, SymInt first=0) -> Tensor");
}

namespace fewbit::ops {

namespace {

using MakeMaps = std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&, int64_t,
                                                    int64_t, int64_t);
using ClassEncode = std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&,
                                                       int64_t, const at::Tensor&, int64_t, int64_t,
                                                       int64_t, const at::Tensor&, int64_t);
using ClassDecode = at::Tensor(const at::Tensor&, const at::Tensor&, c10::SymInt, const at::Tensor&,
                               int64_t, const at::Tensor&, int64_t, int64_t, int64_t,
                               at::ScalarType, const at::Tensor&, int64_t, c10::SymInt);

struct RotatedClassCpu {
  static constexpr at::DeviceType kType = at::kCPU;

  static void maps(const char*, const kernels::ClassMapsFormat& format, const void* x,
                   const uint8_t* codes, float* there, float* back) {
    kernels::class_maps(format, x, codes, there, back);
  }

  static void encode(const char*, kernels::RotatedFormat format, const int64_t* seed,
                     const ClassMemory& memory, const RotatedEncodeMemory& at) {
    const kernels::ElementClasses classes = classes_of(memory);
    complete(format, seed, classes);
    for_parts(format.groups(), kGrainElements / format.group, [&](int64_t begin, int64_t end) {
      kernels::rotated_encode(format, at.elements, at.codes, at.constants, {begin, end});
    });
  }

  static void decode(const char*, kernels::RotatedFormat format, const int64_t* seed,
                     const ClassMemory& memory, const RotatedDecodeMemory& at) {
    const kernels::ElementClasses classes = classes_of(memory);
    complete(format, seed, classes);
    for_parts(format.groups(), kGrainElements / format.group, [&](int64_t begin, int64_t end) {
      kernels::rotated_decode(format, at.codes, at.constants, at.elements, {begin, end});
    });
  }

 private:
  static kernels::ElementClasses classes_of(const ClassMemory& memory) {
    kernels::ElementClasses result{memory.codes, memory.bits, {}};
    std::copy_n(memory.map, memory.classes, result.map.scale);
    std::copy_n(memory.map + memory.classes, memory.classes, result.map.shift);
    return result;
  }

  static void complete(kernels::RotatedFormat& format, const int64_t* seed,
                       const kernels::ElementClasses& classes) {
    format.signs.seed = static_cast<uint64_t>(*seed);
    format.classes = &classes;
  }
};

struct Moments {
  at::Tensor mean, deviation;
};

at::Tensor sampled(const at::Tensor& run) {
  const int64_t step = kernels::sample_step(run.numel());
  return run.as_strided({(run.numel() + step - 1) / step}, {step});
}

Moments moments_by_torch(const at::Tensor& run, const ElementClasses& classes, int count) {
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

/// class_maps.hpp for doubles, whose squares may leave even their range.
ClassMaps maps_by_torch(const at::Tensor& run, const ElementClasses& classes, int count,
                        std::optional<int> zero) {
  const auto [mean, deviation] = moments_by_torch(run, classes, count);
  const at::Tensor share = deviation.div(deviation.amax()).clamp_min_(kernels::kLeastShare);
  const at::Tensor weight = share.div_(kernels::kLeastShare).sqrt_().mul_(2.0);
  const at::Tensor is_usual = weight.isfinite().logical_and_(mean.isfinite());
  const at::Tensor scale = at::where(is_usual, weight, 2.0), shift = at::where(is_usual, mean, 0.0);
  const at::Tensor inverse = scale.reciprocal();
  if (zero) {
    for (const at::Tensor* numbers : {&scale, &shift, &inverse}) numbers->select(0, *zero).zero_();
  }
  return {at::stack({inverse, shift.mul(inverse).neg_()}), at::stack({scale, shift})};
}

at::Tensor mapped(const at::Tensor& x, const ElementClasses& classes, const at::Tensor& map) {
  const at::Tensor index = classes.bytes(x.numel()).to(at::kInt);
  return x.to(map.scalar_type())
      .mul(map.select(0, 0).index_select(0, index))
      .add_(map.select(0, 1).index_select(0, index));
}

// Shapes without data, sizes symbolic.

std::tuple<at::Tensor, at::Tensor> map_shapes(const at::Tensor& x, const at::Tensor&, int64_t,
                                              int64_t count, int64_t) {
  check_device(kClassMaps, "x", x, at::kMeta);
  const auto options = x.options().dtype(at::kFloat);
  return {at::empty({2, count}, options), at::empty({2, count}, options)};
}

std::tuple<at::Tensor, at::Tensor> encode_class_shapes(const at::Tensor& x, const at::Tensor&,
                                                       int64_t, const at::Tensor&, int64_t bits,
                                                       int64_t group, int64_t states,
                                                       const at::Tensor& seed, int64_t) {
  check_device(kRotatedClassEncode, "x", x, at::kMeta);
  const RotatedCodes form{bits, group, states};
  const kernels::ElementType type = check_rotated_encoding(x, form, seed);
  return empty_rotated(x.sym_numel(), form, type, x.options());
}

at::Tensor decode_class_shapes(const at::Tensor& codes, const at::Tensor& constants,
                               c10::SymInt count, const at::Tensor&, int64_t, const at::Tensor&,
                               int64_t bits, int64_t group, int64_t states, at::ScalarType dtype,
                               const at::Tensor& seed, int64_t, c10::SymInt /*first*/) {
  check_device(kRotatedClassDecode, "codes", codes, at::kMeta);
  check_rotated_decoding(codes, constants, count, {bits, group, states}, dtype, seed);
  return at::empty_symint({std::move(count)}, codes.options().dtype(dtype));
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CPU, m) {
  m.impl("class_maps", RotatedClassOperations<RotatedClassCpu>::maps);
  m.impl("rotated_class_encode", RotatedClassOperations<RotatedClassCpu>::encode);
  m.impl("rotated_class_decode", RotatedClassOperations<RotatedClassCpu>::decode);
}

TORCH_LIBRARY_IMPL(fewbit, Meta, m) {
  m.impl("class_maps", map_shapes);
  m.impl("rotated_class_encode", encode_class_shapes);
  m.impl("rotated_class_decode", decode_class_shapes);
}

at::Tensor ElementClasses::bytes(int64_t count) const {
  return integer_decode(codes, count, 0, bits, at::kByte);
}

ClassMaps class_maps(const at::Tensor& run, const ElementClasses& classes, int count,
                     std::optional<int> zero) {
  check_stream(kClassMaps, classes.codes, run.numel(), classes.bits);
  if (run.scalar_type() == at::kDouble) return maps_by_torch(run, classes, count, zero);
  static const auto operation = find<MakeMaps>(kClassMaps);
  auto [there, back] =
      operation.call(run.contiguous(), classes.codes, classes.bits, count, zero.value_or(-1));
  return {there, back};
}

std::tuple<at::Tensor, at::Tensor> rotated_encode(const at::Tensor& x,
                                                  const ElementClasses& classes,
                                                  const at::Tensor& map, const RotatedCodes& form,
                                                  const RandomStream& random) {
  if (x.scalar_type() == at::kDouble) {
    return rotated_encode(mapped(x, classes, map), form, random);
  }
  static const auto operation = find<ClassEncode>(kRotatedClassEncode);
  return operation.call(x.contiguous(), classes.codes, classes.bits, map, form.bits, form.group,
                        form.states, random.seed, random.offset);
}

at::Tensor rotated_decode(const at::Tensor& codes, const at::Tensor& constants, int64_t count,
                          const ElementClasses& classes, const at::Tensor& map,
                          const RotatedCodes& form, at::ScalarType dtype,
                          const RandomStream& random, int64_t first) {
  if (dtype == at::kDouble) {
    const at::Tensor left =
        rotated_decode(codes, constants, count, form, map.scalar_type(), random, first);
    constexpr double kLargest = std::numeric_limits<double>::max();
    return mapped(left, classes, map).clamp_(-kLargest, kLargest);
  }
  static const auto operation = find<ClassDecode>(kRotatedClassDecode);
  return operation.call(codes, constants, count, classes.codes, classes.bits, map, form.bits,
                        form.group, form.states, dtype, random.seed, random.offset, first);
}

}  // namespace fewbit::ops

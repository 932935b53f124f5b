#include "ops/rotated_low_rank.hpp"

#include <algorithm>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "ops/find.hpp"
#include "ops/ranges.hpp"
#include "ops/rotated_low_rank_passes.hpp"

TORCH_LIBRARY_FRAGMENT(fewbit, m) {
  m.def("low_rank_project(Tensor x, Tensor basis, int channels, int inner) -> Tensor");
  m.def(
      "rotated_low_rank_encode(Tensor x, Tensor coefficients, Tensor basis, int channels, "
      "int inner, int bits, int group, int states, Tensor seed, int offset)"
      " -> (Tensor codes, Tensor constants)");
  m.def(
      "rotated_low_rank_decode(Tensor codes, Tensor constants, SymInt count, Tensor coefficients, "
      "Tensor basis, int channels, int inner, int begin, int bits, int group, int states, "
      "ScalarType dtype, Tensor seed, int offset, SymInt first=0) -> Tensor");
}

namespace fewbit::ops {

namespace {

using Project = at::Tensor(const at::Tensor&, const at::Tensor&, int64_t, int64_t);
using LowRankEncode = std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&,
                                                         const at::Tensor&, int64_t, int64_t,
                                                         int64_t, int64_t, int64_t,
                                                         const at::Tensor&, int64_t);
using LowRankDecode = at::Tensor(const at::Tensor&, const at::Tensor&, c10::SymInt,
                                 const at::Tensor&, const at::Tensor&, int64_t, int64_t, int64_t,
                                 int64_t, int64_t, int64_t, at::ScalarType, const at::Tensor&,
                                 int64_t, c10::SymInt);

/// In floats, for all threads.
class Basis {
 public:
  explicit Basis(const LowRankMemory& memory) : memory_(memory) {
    floats_.resize(static_cast<size_t>(memory.count * memory.stride));
    std::transform(memory.basis, memory.basis + floats_.size(), floats_.begin(),
                   kernels::basis_value);
  }

  kernels::Directions directions() const {
    return {memory_.place, memory_.count, memory_.stride, floats_.data()};
  }

 private:
  const LowRankMemory& memory_;
  std::vector<float> floats_;
};

struct RotatedLowRankCpu {
  static constexpr at::DeviceType kType = at::kCPU;

  static void project(const char*, kernels::ElementType type, const void* x,
                      const LowRankMemory& memory, int64_t outer, float* coefficients) {
    const Basis basis(memory);
    const kernels::Directions directions = basis.directions();
    const int64_t rows = outer * kernels::project_pieces(directions.place.inner);
    const int64_t elements = outer * directions.place.block() / rows;
    for_parts(rows, std::max<int64_t>(kGrainElements / elements, 1),
              [&](int64_t begin, int64_t end) {
                kernels::low_rank_project(type, x, directions, coefficients, begin, end);
              });
  }

  static void encode(const char*, kernels::RotatedFormat format, const int64_t* seed,
                     const LowRankMemory& memory, const RotatedEncodeMemory& at) {
    const Basis basis(memory);
    const kernels::LowRank low_rank{basis.directions(), memory.coefficients, memory.begin};
    complete(format, seed, low_rank);
    for_parts(format.groups(), kGrainElements / format.group, [&](int64_t begin, int64_t end) {
      kernels::rotated_encode(format, at.elements, at.codes, at.constants, {begin, end});
    });
  }

  static void decode(const char*, kernels::RotatedFormat format, const int64_t* seed,
                     const LowRankMemory& memory, const RotatedDecodeMemory& at) {
    const Basis basis(memory);
    const kernels::LowRank low_rank{basis.directions(), memory.coefficients, memory.begin};
    complete(format, seed, low_rank);
    for_parts(format.groups(), kGrainElements / format.group, [&](int64_t begin, int64_t end) {
      kernels::rotated_decode(format, at.codes, at.constants, at.elements, {begin, end});
    });
  }

 private:
  static void complete(kernels::RotatedFormat& format, const int64_t* seed,
                       const kernels::LowRank& low_rank) {
    format.signs.seed = static_cast<uint64_t>(*seed);
    format.low_rank = &low_rank;
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CPU, m) {
  m.impl("low_rank_project", RotatedLowRankOperations<RotatedLowRankCpu>::project);
  m.impl("rotated_low_rank_encode", RotatedLowRankOperations<RotatedLowRankCpu>::encode);
  m.impl("rotated_low_rank_decode", RotatedLowRankOperations<RotatedLowRankCpu>::decode);
}

int64_t basis_stride(int64_t channels) {
  return (channels + kernels::kDotSums - 1) / kernels::kDotSums * kernels::kDotSums;
}

at::Tensor basis_of(const at::Tensor& directions) {
  const int64_t channels = directions.size(1);
  const at::Tensor basis = at::zeros({directions.size(0), basis_stride(channels)},
                                     directions.options().dtype(at::kFloat));
  constexpr float kMost = 448.0f;
  basis.narrow(1, 0, channels).copy_(directions).mul_(kernels::kBasisScale).clamp_(-kMost, kMost);
  return basis.to(at::kFloat8_e4m3fn);
}

at::Tensor directions_of(const at::Tensor& basis, int64_t channels) {
  return basis.to(at::kFloat).narrow(1, 0, channels).div(kernels::kBasisScale);
}

at::Tensor low_rank_project(const at::Tensor& x, const at::Tensor& basis,
                            const ChannelPlace& place) {
  static const auto operation = find<Project>(kLowRankProject);
  return operation.call(x, basis, place.channels, place.inner);
}

std::tuple<at::Tensor, at::Tensor> rotated_encode(const at::Tensor& x, const LowRank& low_rank,
                                                  const RotatedCodes& form,
                                                  const RandomStream& random) {
  static const auto operation = find<LowRankEncode>(kRotatedLowRankEncode);
  return operation.call(x, low_rank.coefficients, low_rank.basis, low_rank.place.channels,
                        low_rank.place.inner, form.bits, form.group, form.states, random.seed,
                        random.offset);
}

at::Tensor rotated_decode(const at::Tensor& codes, const at::Tensor& constants, int64_t count,
                          const LowRank& low_rank, const RotatedCodes& form, at::ScalarType dtype,
                          const RandomStream& random, int64_t first) {
  static const auto operation = find<LowRankDecode>(kRotatedLowRankDecode);
  return operation.call(codes, constants, count, low_rank.coefficients, low_rank.basis,
                        low_rank.place.channels, low_rank.place.inner, low_rank.begin, form.bits,
                        form.group, form.states, dtype, random.seed, random.offset, first);
}

}  // namespace fewbit::ops

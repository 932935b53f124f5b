#include "ops/rotated_low_rank.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "ops/find.hpp"
#include "ops/ranges.hpp"
#include "ops/rotated_low_rank_passes.hpp"

TORCH_LIBRARY_FRAGMENT(fewbit, m) {
  m.def(
      "rotated_low_rank_encode(Tensor x, Tensor basis, int channels, int inner, "
      "int coefficient_bits, int bits, int group, int states, Tensor seed, int offset)"
      " -> (Tensor codes, Tensor constants, Tensor coefficient_codes, "
      "Tensor coefficient_constants)");
  m.def(
      "rotated_low_rank_decode(Tensor codes, Tensor constants, Tensor coefficient_codes, "
      "Tensor coefficient_constants, Tensor basis, int count, int channels, int inner, "
      "int coefficient_bits, int bits, int group, int states, ScalarType dtype, Tensor seed, "
      "int offset, int begin, int end) -> Tensor");
}

namespace fewbit::ops {

namespace {

using LowRankEncode = LowRankCodes(const at::Tensor&, const at::Tensor&, int64_t, int64_t, int64_t,
                                   int64_t, int64_t, int64_t, const at::Tensor&, int64_t);
using LowRankDecode = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                 const at::Tensor&, const at::Tensor&, int64_t, int64_t, int64_t,
                                 int64_t, int64_t, int64_t, int64_t, at::ScalarType,
                                 const at::Tensor&, int64_t, int64_t, int64_t);

/// Elements that a core's cache holds beside what is made of them.
constexpr int64_t kUnitElements = 1 << 15;

/// A run for all threads: the basis in floats, and how its blocks are visited.
class Blocks {
 public:
  Blocks(const LowRankRun& run, const int64_t* seed) : run_(run) {
    floats_.resize(static_cast<size_t>(run.count * run.stride));
    std::transform(run.basis, run.basis + floats_.size(), floats_.begin(), kernels::basis_value);
    run_.format.signs.seed = run_.of_coefficients.signs.seed = static_cast<uint64_t>(*seed);
  }

  const LowRankRun& run() const { return run_; }
  kernels::Directions directions() const {
    return {run_.place, run_.count, run_.stride, floats_.data()};
  }

  /// visit(begin, end) of elements [begin, end), which is to use all threads: in units of whole
  /// blocks, so that each is in the cache from its first pass to its last, where there are enough
  /// for the threads, else all at once. No two have a group of elements or coefficients together.
  template <class Visit>
  void for_units(int64_t begin, int64_t end, const Visit& visit) const {
    const int64_t elements = blocks_of_unit() * run_.place.block();
    const int64_t first = begin / elements, last = (end + elements - 1) / elements;
    constexpr int64_t kUnitsOfThread = 2;
    if (last - first < kUnitsOfThread * at::get_num_threads()) return visit(begin, end);
    for_parts(last - first, 1, [&](int64_t from, int64_t to) {
      for (int64_t unit = first + from; unit < first + to; ++unit) {
        visit(std::max(begin, unit * elements), std::min(end, (unit + 1) * elements));
      }
    });
  }

 private:
  /// Whole groups, both of elements and of coefficients. Groups are powers of 2.
  int64_t blocks_of_unit() const {
    const auto needed = [](int64_t group, int64_t of_block) {
      return group / std::gcd(group, of_block);
    };
    int64_t blocks =
        std::max(needed(std::max(run_.format.group, kGroupOfCoefficients), run_.place.block()),
                 needed(kGroupOfCoefficients, run_.coefficients(1)));
    while (blocks * run_.place.block() < kUnitElements) blocks *= 2;
    return blocks;
  }

  LowRankRun run_;
  std::vector<float> floats_;
};

struct RotatedLowRankCpu {
  static constexpr at::DeviceType kType = at::kCPU;

  static void encode(const char*, const LowRankRun& given, const int64_t* seed,
                     const RotatedEncodeMemory& at, const RotatedEncodeMemory& there) {
    const Blocks blocks(given, seed);
    const kernels::Directions directions = blocks.directions();
    const LowRankRun& run = blocks.run();
    const at::Tensor coefficients = at::empty({run.of_coefficients.count}, at::kFloat);
    auto* const floats = coefficients.mutable_data_ptr<float>();
    const kernels::LowRank low_rank{directions, floats};
    kernels::RotatedFormat format = run.format;
    format.low_rank = &low_rank;
    const int64_t pieces = kernels::project_pieces(run.place.inner);
    const int64_t grain = std::max<int64_t>(kGrainElements * pieces / run.place.block(), 1);
    blocks.for_units(0, format.count, [&](int64_t begin, int64_t end) {
      const int64_t first = begin / run.place.block(), last = end / run.place.block();
      for_parts((last - first) * pieces, grain, [&](int64_t from, int64_t to) {
        kernels::low_rank_project(format.type, at.elements, directions, floats,
                                  first * pieces + from, first * pieces + to);
      });
      for_groups(run.of_coefficients, run.coefficients(first), run.coefficients(last),
                 [&](const kernels::GroupRange& groups) {
                   kernels::rotated_encode(run.of_coefficients, floats, there.codes,
                                           there.constants, groups);
                   kernels::rotated_decode(run.of_coefficients, there.codes, there.constants,
                                           floats, groups);
                 });
      for_groups(format, begin, end, [&](const kernels::GroupRange& groups) {
        kernels::rotated_encode(format, at.elements, at.codes, at.constants, groups);
      });
    });
  }

  static void decode(const char*, const LowRankRun& given, const int64_t* seed,
                     const RotatedDecodeMemory& at, const RotatedDecodeMemory& there, int64_t first,
                     int64_t last) {
    const Blocks blocks(given, seed);
    const LowRankRun& run = blocks.run();
    const CoefficientsOfPart all(run, first, last);
    const PartOfRun there_part(run.of_coefficients, all.begin, all.end - all.begin);
    const at::Tensor coefficients = at::empty({all.end - all.begin}, at::kFloat);
    auto* const floats = coefficients.mutable_data_ptr<float>();
    const kernels::LowRank low_rank{blocks.directions(), floats + all.before,
                                    first - all.first_block * run.place.block()};
    PartOfRun part(run.format, first, last - first);
    part.format.low_rank = &low_rank;
    blocks.for_units(first, last, [&](int64_t begin, int64_t end) {
      const CoefficientsOfPart here(run, begin, end);
      for_groups(there_part.format, here.begin - all.begin, here.end - all.begin,
                 [&](const kernels::GroupRange& groups) {
                   kernels::rotated_decode(there_part.format, there.codes + there_part.code_bytes,
                                           there.constants + there_part.constant_bytes, floats,
                                           groups);
                 });
      for_groups(part.format, begin - first, end - first, [&](const kernels::GroupRange& groups) {
        kernels::rotated_decode(part.format, at.codes + part.code_bytes,
                                at.constants + part.constant_bytes, at.elements, groups);
      });
    });
  }

 private:
  /// run(groups), of a run's groups that hold elements [begin, end), by all threads.
  template <class Run>
  static void for_groups(const kernels::RotatedFormat& format, int64_t begin, int64_t end,
                         const Run& run) {
    const int64_t first = begin / format.group;
    for_parts((end + format.group - 1) / format.group - first, kGrainElements / format.group,
              [&](int64_t from, int64_t to) {
                run(kernels::GroupRange{first + from, first + to});
              });
  }
};

// Shapes without data.

LowRankCodes encode_low_rank_shapes(const at::Tensor& x, const at::Tensor& basis, int64_t channels,
                                    int64_t inner, int64_t coefficient_bits, int64_t bits,
                                    int64_t group, int64_t states, const at::Tensor& seed,
                                    int64_t) {
  check_device(kRotatedLowRankEncode, "x", x, at::kMeta);
  const LowRankForm form{{channels, inner}, coefficient_bits, {bits, group, states}};
  const kernels::ElementType type = check_rotated_encoding(x, form.rest, seed);
  const int64_t coefficients = x.numel() / form.place.block() * basis.size(0) * inner;
  auto [codes, constants] = empty_rotated(x.numel(), form.rest, type, x.options());
  auto [codes_there, constants_there] =
      empty_rotated(coefficients, form.coefficients(), kernels::ElementType::f32, x.options());
  return {codes, constants, codes_there, constants_there};
}

at::Tensor decode_low_rank_shapes(const at::Tensor& codes, const at::Tensor& constants,
                                  const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                  int64_t count, int64_t, int64_t, int64_t, int64_t bits,
                                  int64_t group, int64_t states, at::ScalarType dtype,
                                  const at::Tensor& seed, int64_t, int64_t begin, int64_t end) {
  check_device(kRotatedLowRankDecode, "codes", codes, at::kMeta);
  check_rotated_decoding(codes, constants, count, {bits, group, states}, dtype, seed);
  const Part part(begin, end, count);
  return part.elements(at::empty({part.count()}, codes.options().dtype(dtype)), begin, end);
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CPU, m) {
  m.impl("rotated_low_rank_encode", RotatedLowRankOperations<RotatedLowRankCpu>::encode);
  m.impl("rotated_low_rank_decode", RotatedLowRankOperations<RotatedLowRankCpu>::decode);
}

TORCH_LIBRARY_IMPL(fewbit, Meta, m) {
  m.impl("rotated_low_rank_encode", encode_low_rank_shapes);
  m.impl("rotated_low_rank_decode", decode_low_rank_shapes);
}

RandomStream for_coefficients(const RandomStream& random) {
  constexpr int64_t kApart = int64_t{1} << 62;
  return {random.seed, random.offset + kApart};
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

LowRankCodes low_rank_encode(const at::Tensor& x, const at::Tensor& basis, const LowRankForm& form,
                             const RandomStream& random) {
  static const auto operation = find<LowRankEncode>(kRotatedLowRankEncode);
  return operation.call(x, basis, form.place.channels, form.place.inner, form.coefficient_bits,
                        form.rest.bits, form.rest.group, form.rest.states, random.seed,
                        random.offset);
}

at::Tensor low_rank_decode(const LowRankCodes& codes, const at::Tensor& basis, int64_t count,
                           const LowRankForm& form, at::ScalarType dtype,
                           const RandomStream& random, int64_t begin, int64_t end) {
  static const auto operation = find<LowRankDecode>(kRotatedLowRankDecode);
  const auto& [of_rest, constants, of_coefficients, constants_there] = codes;
  return operation.call(of_rest, constants, of_coefficients, constants_there, basis, count,
                        form.place.channels, form.place.inner, form.coefficient_bits,
                        form.rest.bits, form.rest.group, form.rest.states, dtype, random.seed,
                        random.offset, begin, end);
}

}  // namespace fewbit::ops

#include "kernels/quantizer/cuda/rotated.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "generated/normal_quantizer.hpp"
#include "generated/trellis_quantizer.hpp"
#include "kernels/quantizer/cuda/rotated_arguments.hpp"
#include "kernels/quantizer/cuda/rotated_launch.hpp"

namespace fewbit::kernels::cuda {

namespace {

bool is_aligned(const void* at, uintptr_t bytes = 16) {
  return reinterpret_cast<uintptr_t>(at) % bytes == 0;
}

RotatedEncodeArguments encode_arguments(const RotatedFormat& format, DevicePhilox signs,
                                        const void* x, uint8_t* codes, void* constants) {
  return {x,           codes,         constants,     format.count,      format.coded_elements(),
          format.bits, format.states, is_aligned(x), is_aligned(codes), signs};
}

RotatedDecodeArguments decode_arguments(const RotatedFormat& format, DevicePhilox signs,
                                        const uint8_t* codes, const void* constants, void* x) {
  return {codes,
          constants,
          x,
          format.count,
          format.coded_elements(),
          format.bits,
          format.states,
          is_aligned(x),
          is_aligned(codes),
          signs};
}

ClassArguments class_arguments(const DeviceClasses& classes) {
  return {classes, is_aligned(classes.codes, 4)};
}

cudaError_t launch_rotated_encode(ElementType type, int64_t group,
                                  std::span<const RotatedEncodeArguments> passes,
                                  cudaStream_t stream) {
  return by_type(type, [&](auto known) {
    return launch_rotated_encode_of<known.value>(group, passes, stream);
  });
}

cudaError_t launch_rotated_decode(ElementType type, int64_t group,
                                  std::span<const RotatedDecodeArguments> passes,
                                  cudaStream_t stream) {
  return by_type(type, [&](auto known) {
    return launch_rotated_decode_of<known.value>(group, passes, stream);
  });
}

/// launch(passes) of up to kMostTogether tensors that have elements; the first error.
template <class Arguments, class Tensor, class ArgumentsOf, class Launch>
cudaError_t launch_in_turn(std::span<const Tensor> tensors, ArgumentsOf arguments_of,
                           Launch launch) {
  std::array<Arguments, kMostTogether> passes;
  size_t count = 0;
  const auto flush = [&] {
    const std::span<const Arguments> waiting(passes.data(), std::exchange(count, 0));
    return waiting.empty() ? cudaSuccess : launch(waiting);
  };
  for (const Tensor& tensor : tensors) {
    if (tensor.count == 0) continue;
    passes[count++] = arguments_of(tensor);
    if (count < passes.size()) continue;
    if (const cudaError_t status = flush(); status != cudaSuccess) return status;
  }
  return flush();
}

cudaError_t launch_class_encode(ElementType type, int64_t group, const RotatedEncodeArguments& pass,
                                const ClassArguments& classes, cudaStream_t stream) {
  return by_short_type(type, [&](auto known) {
    return launch_class_encode_of<known.value>(group, pass, classes, stream);
  });
}

cudaError_t launch_class_decode(ElementType type, int64_t group, const RotatedDecodeArguments& pass,
                                const ClassArguments& classes, cudaStream_t stream) {
  return by_short_type(type, [&](auto known) {
    return launch_class_decode_of<known.value>(group, pass, classes, stream);
  });
}

}  // namespace

MagnitudeTree magnitude_tree(int bits) {
  const generated::NormalQuantizer& table = generated::normal_quantizer(bits);
  const int count = 1 << (bits - 1);
  MagnitudeTree tree{};
  for (int first = 1; first < count; first *= 2) {
    const int step = count / first;
    for (int i = 0; i < first; ++i) {
      tree.node[first + i] = table.thresholds[i * step + step / 2 - 1];
    }
  }
  for (int i = 0; i < count; ++i) tree.node[count + i] = table.levels[i];
  return tree;
}

TrellisTree trellis_tree(int bits, int states) {
  constexpr int kSubsets = 4;
  const float* const all = generated::trellis_quantizer(bits, states).levels;
  const int count = 2 << bits;
  const int leaves = count / kSubsets;
  TrellisTree tree{};
  for (int first = 1; first < leaves; first *= 2) {
    const int step = leaves / first;
    for (int i = 0; i < kSubsets * first; ++i) {
      const int below = (i / kSubsets * step + step / 2 - 1) * kSubsets + i % kSubsets;
      tree.node[kSubsets * first + i] = 0.5f * (all[below] + all[below + kSubsets]);
    }
  }
  std::copy_n(all, count, tree.node + count);
  for (int i = 0; i < count / 2; ++i) {
    tree.upper[i] = all[count / 2 + i];
    tree.cost[i] = 0.5f * (tree.upper[i] * tree.upper[i]);
  }
  return tree;
}

CodeLevels code_levels(int bits, int states) {
  CodeLevels levels{};
  if (states != 0) {
    std::copy_n(generated::trellis_quantizer(bits, states).levels, 2 << bits, levels.level);
    return levels;
  }
  const generated::NormalQuantizer& table = generated::normal_quantizer(bits);
  const int half = 1 << (bits - 1);
  for (int i = 0; i < half; ++i) {
    levels.level[half + i] = table.levels[i];
    levels.level[half - 1 - i] = -table.levels[i];
  }
  return levels;
}

cudaError_t rotated_encode(const RotatedFormat& format, DevicePhilox signs, const void* x,
                           uint8_t* codes, void* constants, cudaStream_t stream) {
  if (format.count == 0) return cudaSuccess;
  const RotatedEncodeArguments pass = encode_arguments(format, signs, x, codes, constants);
  return format.states == 0 ? launch_rotated_encode(format.type, format.group, {&pass, 1}, stream)
                            : launch_trellis_encode(format.type, format.group, pass, stream);
}

cudaError_t rotated_decode(const RotatedFormat& format, DevicePhilox signs, const uint8_t* codes,
                           const void* constants, void* x, cudaStream_t stream) {
  if (format.count == 0) return cudaSuccess;
  const RotatedDecodeArguments pass = decode_arguments(format, signs, codes, constants, x);
  return format.states == 0 ? launch_rotated_decode(format.type, format.group, {&pass, 1}, stream)
                            : launch_trellis_decode(format.type, format.group, pass, stream);
}

cudaError_t rotated_encode(const RotatedFormat& format,
                           std::span<const RotatedEncodeTensor> tensors, cudaStream_t stream) {
  const auto arguments_of = [&](const RotatedEncodeTensor& at) {
    RotatedFormat own = format;
    own.count = at.count;
    return encode_arguments(own, at.signs, at.x, at.codes, at.constants);
  };
  return launch_in_turn<RotatedEncodeArguments>(tensors, arguments_of, [&](auto passes) {
    return launch_rotated_encode(format.type, format.group, passes, stream);
  });
}

cudaError_t rotated_decode(const RotatedFormat& format,
                           std::span<const RotatedDecodeTensor> tensors, cudaStream_t stream) {
  const auto arguments_of = [&](const RotatedDecodeTensor& at) {
    RotatedFormat own = format;
    own.count = at.count;
    return decode_arguments(own, at.signs, at.codes, at.constants, at.x);
  };
  return launch_in_turn<RotatedDecodeArguments>(tensors, arguments_of, [&](auto passes) {
    return launch_rotated_decode(format.type, format.group, passes, stream);
  });
}

cudaError_t rotated_class_encode(const RotatedFormat& format, DevicePhilox signs,
                                 const DeviceClasses& classes, const void* x, uint8_t* codes,
                                 void* constants, cudaStream_t stream) {
  if (format.count == 0) return cudaSuccess;
  const auto launch = format.states == 0 ? launch_class_encode : launch_trellis_class_encode;
  return launch(format.type, format.group, encode_arguments(format, signs, x, codes, constants),
                class_arguments(classes), stream);
}

cudaError_t rotated_class_decode(const RotatedFormat& format, DevicePhilox signs,
                                 const DeviceClasses& classes, const uint8_t* codes,
                                 const void* constants, void* x, cudaStream_t stream) {
  if (format.count == 0) return cudaSuccess;
  const auto launch = format.states == 0 ? launch_class_decode : launch_trellis_class_decode;
  return launch(format.type, format.group, decode_arguments(format, signs, codes, constants, x),
                class_arguments(classes), stream);
}

}  // namespace fewbit::kernels::cuda

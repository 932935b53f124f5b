// Only where the kernels and libtorch have CUDA. What is enqueued is the current stream's of the
// tensors' device; nothing here waits for it.
#include <algorithm>

#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "kernels/quantizer/cuda/low_rank.hpp"
#include "kernels/quantizer/cuda/rotated.hpp"
#include "ops/cuda_launch.hpp"
#include "ops/rotated_low_rank_passes.hpp"

namespace fewbit::ops {

namespace {

/// Elements whose rest is in memory at the same time.
constexpr int64_t kPiece = int64_t{1} << 22;

kernels::cuda::DeviceDirections directions_of(const LowRankMemory& memory) {
  return {memory.place, memory.count, memory.stride, memory.basis};
}

/// A piece of a run: its elements, codes, constants and format, in which the rest is coded.
struct Piece {
  int64_t first, count;
  kernels::RotatedFormat format;
  int64_t code_bytes, constant_bytes;  ///< before it

  Piece(const kernels::RotatedFormat& run, int64_t begin)
      : first(begin),
        count(std::min(kPiece, run.count - begin)),
        format(run),
        code_bytes(begin / 8 * run.bits),
        constant_bytes(begin / run.group * run.constant_bytes_of_group()) {
    format.type = kernels::ElementType::f32;
    format.count = count;
    format.signs.first += static_cast<uint64_t>(begin) / kernels::kSignsOfDraw;
  }
};

/// Floats on the current device, for the current stream's work.
at::Tensor rest_of(const kernels::RotatedFormat& format) {
  const at::Device device(at::kCUDA, c10::cuda::current_device());
  return at::empty({std::min(kPiece, format.count)}, at::TensorOptions(device).dtype(at::kFloat));
}

struct RotatedLowRankCuda {
  static constexpr at::DeviceType kType = at::kCUDA;

  static void project(const char* operation, kernels::ElementType type, const void* x,
                      const LowRankMemory& memory, int64_t outer, float* coefficients) {
    check_launch(operation,
                 kernels::cuda::low_rank_project(type, x, directions_of(memory), outer,
                                                 coefficients, c10::cuda::getCurrentCUDAStream()));
  }

  static void encode(const char* operation, const kernels::RotatedFormat& format,
                     const int64_t* seed, const LowRankMemory& memory,
                     const RotatedEncodeMemory& at) {
    const at::Tensor rest = rest_of(format);
    auto* const floats = rest.mutable_data_ptr<float>();
    const auto stream = c10::cuda::getCurrentCUDAStream();
    for (int64_t first = 0; first < format.count; first += kPiece) {
      const Piece piece(format, first);
      const auto* const x =
          static_cast<const uint8_t*>(at.elements) + first * kernels::element_bytes(format.type);
      check_launch(operation, kernels::cuda::low_rank_take(format.type, x, at_piece(memory, piece),
                                                           piece.count, floats, stream));
      check_launch(operation,
                   kernels::cuda::rotated_encode(
                       piece.format, device_philox(seed, piece.format.signs), floats,
                       at.codes + piece.code_bytes, at.constants + piece.constant_bytes, stream));
    }
  }

  static void decode(const char* operation, const kernels::RotatedFormat& format,
                     const int64_t* seed, const LowRankMemory& memory,
                     const RotatedDecodeMemory& at) {
    const at::Tensor rest = rest_of(format);
    auto* const floats = rest.mutable_data_ptr<float>();
    const auto stream = c10::cuda::getCurrentCUDAStream();
    for (int64_t first = 0; first < format.count; first += kPiece) {
      const Piece piece(format, first);
      auto* const x =
          static_cast<uint8_t*>(at.elements) + first * kernels::element_bytes(format.type);
      check_launch(operation, kernels::cuda::rotated_decode(
                                  piece.format, device_philox(seed, piece.format.signs),
                                  at.codes + piece.code_bytes, at.constants + piece.constant_bytes,
                                  floats, stream));
      check_launch(operation,
                   kernels::cuda::low_rank_put_back(format.type, floats, at_piece(memory, piece),
                                                    piece.count, x, stream));
    }
  }

 private:
  static kernels::cuda::DeviceLowRank at_piece(const LowRankMemory& memory, const Piece& piece) {
    return {directions_of(memory), memory.coefficients, memory.begin + piece.first};
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CUDA, m) {
  m.impl("low_rank_project", RotatedLowRankOperations<RotatedLowRankCuda>::project);
  m.impl("rotated_low_rank_encode", RotatedLowRankOperations<RotatedLowRankCuda>::encode);
  m.impl("rotated_low_rank_decode", RotatedLowRankOperations<RotatedLowRankCuda>::decode);
}

}  // namespace fewbit::ops

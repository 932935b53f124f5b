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
constexpr int64_t kPiece = kFloatsAtOnce;

kernels::cuda::DeviceDirections directions_of(const LowRankRun& run) {
  return {run.place, run.count, run.stride, run.basis};
}

/// On the current device, for the current stream's work.
at::Tensor floats(int64_t count) {
  return at::empty({count}, at::TensorOptions(current_cuda_device()).dtype(at::kFloat));
}

struct RotatedLowRankCuda {
  static constexpr at::DeviceType kType = kCudaType;

  static void encode(const char* operation, const LowRankRun& run, const int64_t* seed,
                     const RotatedEncodeMemory& at, const RotatedEncodeMemory& there) {
    const kernels::RotatedFormat& format = run.format;
    if (format.count == 0) return;
    const cudaStream_t stream = current_cuda_stream();
    const at::Tensor kept = floats(run.of_coefficients.count);
    auto* const coefficients = kept.mutable_data_ptr<float>();
    check_launch(operation, kernels::cuda::low_rank_project(
                                format.type, at.elements, directions_of(run),
                                format.count / run.place.block(), coefficients, stream));
    const auto philox = device_philox(seed, run.of_coefficients.signs);
    check_launch(operation, kernels::cuda::rotated_encode(run.of_coefficients, philox, coefficients,
                                                          there.codes, there.constants, stream));
    check_launch(operation, kernels::cuda::rotated_decode(run.of_coefficients, philox, there.codes,
                                                          there.constants, coefficients, stream));
    const at::Tensor kept_rest = floats(std::min(kPiece, format.count));
    auto* const rest = kept_rest.mutable_data_ptr<float>();
    for (int64_t first = 0; first < format.count; first += kPiece) {
      const PartOfRun piece = piece_of(format, first, format.count);
      const auto* const x =
          static_cast<const uint8_t*>(at.elements) + first * kernels::element_bytes(format.type);
      check_launch(operation, kernels::cuda::low_rank_take(
                                  format.type, x, {directions_of(run), coefficients, first},
                                  piece.format.count, rest, stream));
      check_launch(operation,
                   kernels::cuda::rotated_encode(
                       piece.format, device_philox(seed, piece.format.signs), rest,
                       at.codes + piece.code_bytes, at.constants + piece.constant_bytes, stream));
    }
  }

  static void decode(const char* operation, const LowRankRun& run, const int64_t* seed,
                     const RotatedDecodeMemory& at, const RotatedDecodeMemory& there, int64_t begin,
                     int64_t end) {
    const cudaStream_t stream = current_cuda_stream();
    const CoefficientsOfPart all(run, begin, end);
    const PartOfRun there_part(run.of_coefficients, all.begin, all.end - all.begin);
    const at::Tensor kept = floats(there_part.format.count);
    auto* const coefficients = kept.mutable_data_ptr<float>();
    check_launch(operation, kernels::cuda::rotated_decode(
                                there_part.format, device_philox(seed, there_part.format.signs),
                                there.codes + there_part.code_bytes,
                                there.constants + there_part.constant_bytes, coefficients, stream));
    const at::Tensor kept_rest = floats(std::min(kPiece, end - begin));
    auto* const rest = kept_rest.mutable_data_ptr<float>();
    for (int64_t first = begin; first < end; first += kPiece) {
      const PartOfRun piece = piece_of(run.format, first, end);
      auto* const x = static_cast<uint8_t*>(at.elements) +
                      (first - begin) * kernels::element_bytes(run.format.type);
      check_launch(operation, kernels::cuda::rotated_decode(
                                  piece.format, device_philox(seed, piece.format.signs),
                                  at.codes + piece.code_bytes, at.constants + piece.constant_bytes,
                                  rest, stream));
      check_launch(operation,
                   kernels::cuda::low_rank_put_back(run.format.type, rest,
                                                    {directions_of(run), coefficients + all.before,
                                                     first - all.first_block * run.place.block()},
                                                    piece.format.count, x, stream));
    }
  }

 private:
  /// The rest, in floats, of elements from `first` on, up to `end`.
  static PartOfRun piece_of(const kernels::RotatedFormat& format, int64_t first, int64_t end) {
    PartOfRun piece(format, first, std::min(kPiece, end - first));
    piece.format.type = kernels::ElementType::f32;
    return piece;
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, FEWBIT_CUDA_KEY, m) {
  m.impl("rotated_low_rank_encode", RotatedLowRankOperations<RotatedLowRankCuda>::encode);
  m.impl("rotated_low_rank_decode", RotatedLowRankOperations<RotatedLowRankCuda>::decode);
}

}  // namespace fewbit::ops

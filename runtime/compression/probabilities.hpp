#pragma once

#include <cstdint>
#include <memory>

#include <ATen/core/Tensor.h>

#include "codecs/codec.hpp"
#include "trace/saved_tensors.hpp"

/// Of softmax and log_softmax.
namespace fewbit::session {

/// Probabilities that sum to 1 in each row, as softmax's own gradient has them cancel what all of
/// a row's gradients have in common. Rows of zeros stay so.
std::unique_ptr<const PackedTensor> summing_to_one(std::unique_ptr<const PackedTensor> kept,
                                                   int64_t dim);

/// The probabilities of which the view shows the logarithms: dense, in the order of its memory.
/// Decoding throws c10::Error where it was changed in place meanwhile.
std::shared_ptr<const codecs::Encoded> exponential_of(const at::Tensor& logarithms);

}  // namespace fewbit::session

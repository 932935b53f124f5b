#pragma once

#include <cstdint>
#include <memory>

#include "codecs/codec.hpp"
#include "swap/host_swap.hpp"

namespace fewbit::codecs {

/// Bytes of those tensors that swapped() puts away: all that nobody else holds, but for small ones.
int64_t bytes_to_swap(const Encoded& encoded);

/// The same, its tensors away until they are decoded, and again after that. tensors() are those
/// that stay. Nobody may hold a tensor of `encoded` beside it. decoded() throws c10::Error where
/// they cannot be had back.
std::shared_ptr<const Encoded> swapped(std::shared_ptr<const Encoded> encoded,
                                       swap::HostSwap& swap);

}  // namespace fewbit::codecs

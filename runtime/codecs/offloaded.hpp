#pragma once

#include <cstdint>
#include <memory>

#include "codecs/codec.hpp"
#include "offload/host_offload.hpp"

namespace fewbit::codecs {

/// Bytes of those tensors that offloaded() puts away: all that nobody else holds, but for small
/// ones.
int64_t bytes_to_offload(const Encoded& encoded);

/// The same, its tensors away until they are decoded, and again after that. tensors() are those
/// that stay. Nobody may hold a tensor of `encoded` beside it. decoded() throws c10::Error where
/// they cannot be had back.
std::shared_ptr<const Encoded> offloaded(std::shared_ptr<const Encoded> encoded,
                                         offload::HostOffload& offload);

}  // namespace fewbit::codecs

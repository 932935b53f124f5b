#pragma once

#include <cstdint>
#include <memory>

#include "codecs/codec.hpp"
#include "offload/host_offload.hpp"

namespace fewbit::codecs {

/// Bytes of the tensors that offloaded() offloads: all that nobody else holds, but for small ones.
int64_t bytes_to_offload(const Encoded& encoded);

/// The same with its tensors offloaded, except while it is decoded. tensors() are those that stay.
/// Nobody else may hold a tensor of `encoded`. decoded() throws c10::Error where they cannot be
/// brought back.
std::shared_ptr<const Encoded> offloaded(std::shared_ptr<const Encoded> encoded,
                                         offload::HostOffload& offload);

}  // namespace fewbit::codecs

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <ATen/core/Tensor.h>

#include "codecs/codec.hpp"
#include "compression/coder.hpp"

namespace fewbit::session {

/// Directions of channels that the tensors of a site lie along: found in one, used for later ones.
struct SiteDirections {
  at::Tensor basis;            ///< ops::basis_of, of the most worth first
  int64_t channels = 0;        ///< that are some
  int bits = 0;                ///< of a coefficient
  bool is_normalized = false;  ///< of what a norm makes of its input
};
using SiteDirectionsPointer = std::shared_ptr<const SiteDirections>;

/// Where the channels of what is saved lie: dimension 1 of [N, C, ...], else the last, with the
/// heads of attention's. None where the memory is not [outer, channels, inner].
std::optional<ops::ChannelPlace> channel_place(const at::Tensor& run, const SaveEvent& event);

/// The same for a tensor of the site; none where it has other channels.
std::optional<codecs::Directions> directions_for(const SiteDirectionsPointer& directions,
                                                 const at::Tensor& run, const Subject& subject);

/// By a step of subspace iteration from those before, or two from random ones (of the site's number
/// of channels, always the same); so many and of so many bits that the squared error falls most
/// beside what as many more bits an element would do, and twice as many directions, and the time
/// they take, take off a seventh more. Null where none are worth a pass. Reads rows of some two
/// million elements, and waits for the device.
SiteDirectionsPointer find_directions(const at::Tensor& run, const Subject& subject,
                                      const SiteDirectionsPointer& before,
                                      const MostDirections& most);

}  // namespace fewbit::session

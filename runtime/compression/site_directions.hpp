#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "codecs/codec.hpp"
#include "compression/coder.hpp"

namespace fewbit::session {

/// So many directions, and bits of a coefficient; 0 and 0: none.
struct DirectionsChoice {
  int count = 0;
  int bits = 0;

  bool operator==(const DirectionsChoice&) const = default;
};

/// Directions of channels that the tensors of a site lie along: found in one, used for later ones.
struct SiteDirections {
  at::Tensor basis = {};  ///< ops::basis_of, of the most worth first
  std::vector<double> rests =
      {};                      ///< of the energy: what 1, 2, ... directions leave of later tensors
  int64_t channels = 0;        ///< that are some
  bool is_normalized = false;  ///< of what a norm makes of its input
};
using SiteDirectionsPointer = std::shared_ptr<const SiteDirections>;

/// Where the channels of what is saved lie: dimension 1 of [N, C, ...], else the last, with the
/// heads of attention's. None where the memory is not [outer, channels, inner].
std::optional<ops::ChannelPlace> channel_place(const at::Tensor& run, const SaveEvent& event);

/// The chosen ones for a tensor of the site; none where it has other channels.
std::optional<codecs::Directions> directions_for(const SiteDirectionsPointer& directions,
                                                 const DirectionsChoice& choice,
                                                 const at::Tensor& run, const Subject& subject);

/// As the codec has them that is good for its name and bytes alone.
codecs::Directions chosen(const SiteDirections& directions, const DirectionsChoice& choice);

/// A way to use directions: what they take of an element, and the part of the energy that is left
/// once coefficients are coded.
struct DirectionsOption {
  DirectionsChoice choice;
  double bits;
  double left;
};

/// Those that are worth a pass in a tensor of so many elements: the squared error falls beside what
/// as many more bits an element would do, and twice as many directions, and the time they take,
/// take off a seventh more.
std::vector<DirectionsOption> options_of(const SiteDirections& directions, int64_t elements);

/// That takes most off beside its bits; none of no options.
DirectionsChoice best_of(const std::vector<DirectionsOption>& options);

/// Of the energy, what is left.
double left_of(const SiteDirections& directions, const DirectionsChoice& choice);

/// At most so many, by a step of subspace iteration from those before, whose rests in this tensor
/// are what later ones may leave; else two from random ones (of the site's number of channels,
/// always the same), with the rests of this one. Null where none are worth a pass. Reads rows of
/// some two million elements, and waits for the device.
SiteDirectionsPointer find_directions(const at::Tensor& run, const Subject& subject,
                                      const SiteDirectionsPointer& before, int64_t most);

}  // namespace fewbit::session

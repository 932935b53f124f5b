#pragma once

#include <memory>
#include <optional>
#include <string>

#include <ATen/core/Tensor.h>

#include "compression/allocation/error.hpp"
#include "compression/coder.hpp"
#include "compression/recompute/tracker.hpp"

namespace fewbit::session {

/// The squared error of coding a tensor, over the tensor's energy.
struct Measured {
  CodecKind kind;       ///< with the least error
  double error;         ///< of all elements
  double median_share;  ///< of groups, the median error over that of all, as it is coded now
  int bits;             ///< of an element; 0: of a cast, which has no choice
  std::optional<double> error_beside_directions = {};  ///< of the subject, if it has such
  double energy_share = 1.0;  ///< of log_softmax's probabilities, as energy_share_of says
};

/// What a codec of that text made of a run.
struct CodedRun {
  std::string codec;
  std::shared_ptr<const codecs::Encoded> run;
};

/// Codes a run of elements by each codec that a site may have, in so many bits, but for what is
/// coded already. A cast has to be. Nothing for what takes no bits, and where the error is not
/// finite.
std::optional<Measured> measure(const Coder& coder, const Subject& subject,
                                const SavePolicy& save_policy, int bits, const at::Tensor& run,
                                const std::optional<CodedRun>& coded,
                                const codecs::RandomStream& random);

/// Of what is shown in the place of a run, in the order of the run's memory.
ByParts parts_of(const Shown& shown, const at::Tensor& run);

}  // namespace fewbit::session

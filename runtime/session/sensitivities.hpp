#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "session/compression.hpp"

namespace fewbit::session {

/// Finds, in the backward pass itself, what errors of saved tensors do to the gradients: by the
/// energies of the gradients of what the operations give that saved them (Chen et al., ActNN, ICML
/// 2021, section 4.1). For one forward.
class Sensitivities {
 public:
  explicit Sensitivities(const std::shared_ptr<Compression>& compression)
      : compression_(compression) {}

  /// Whether it is to hear of the ends of such calls.
  static bool follows(std::string_view operation);

  /// An operation that runs coded a tensor at a place.
  void add(const Compression::SiteKey& site, const at::Tensor& tensor, const Saving& saving,
           const Treatment& treatment);
  void end_call(const RecordedCall& call);

 private:
  /// What was coded by an operation that has not ended.
  struct Coded {
    Compression::SiteKey site;
    double factor;  ///< of the energy of the gradient
  };

  std::weak_ptr<Compression> compression_;
  std::vector<std::pair<std::string, Coded>> coded_;  ///< by operation
};

}  // namespace fewbit::session

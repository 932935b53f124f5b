#pragma once

#include <optional>

#include "compression/recorder.hpp"
#include "dispatch/interception.hpp"

namespace fewbit::session {

/// What a CompressionScope does with calls: runs these operations in their other form where no rule
/// leaves them alone, activations with few-bit derivatives, and leaves the rest to the policy that
/// was opened before.
class CompressionPolicy final : public Policy {
 public:
  CompressionPolicy(const Compression& compression, CompressionUser& user)
      : compression_(compression), user_(user) {}

  std::optional<Substitute> decide(const Call& call) override;

 private:
  std::optional<Substitute> activation(const Call& call, const ActivationCall& activation);

  const Compression& compression_;
  CompressionUser& user_;
};

}  // namespace fewbit::session

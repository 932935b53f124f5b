#pragma once

#include <optional>
#include <string>
#include <vector>

#include "session/compression.hpp"
#include "session/interception.hpp"

namespace fewbit::session {

/// Names of torch's operations, without "aten::", that save other things while what is saved is
/// coded: ops/recomputed.hpp.
std::vector<std::string> recomputed_operations();

/// What a CompressionScope does with calls: runs these operations in their other form where no rule
/// leaves them alone, and leaves the rest to the policy for activations.
class CompressionPolicy final : public Policy {
 public:
  CompressionPolicy(const Compression& compression, Policy& activations)
      : compression_(compression), activations_(activations) {}

  std::optional<Substitute> decide(const Call& call) override;

 private:
  const Compression& compression_;
  Policy& activations_;
};

}  // namespace fewbit::session

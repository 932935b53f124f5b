#pragma once

#include <optional>
#include <string>
#include <vector>

#include "session/compression_user.hpp"
#include "session/interception.hpp"

namespace fewbit::session {

/// Names of torch's operations, without "aten::", that save other things while what is saved is
/// coded: ops/recomputed.hpp.
std::vector<std::string> recomputed_operations();

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

// Inputs of what runs again.
#include "compression/operators/operator.hpp"

namespace fewbit::session {

namespace {

constexpr SavePolicy kInput = {StorageKind::rotated, 4.0, false, Factor::input};

const OperatorFamily kCheckpoints = {{.name = "checkpoint",
                                      .library = "fewbit",
                                      .saves = {{kAny, kInput}},
                                      .holds_arguments = true}};

}  // namespace

SavePolicy save_policy_of_checkpoint() {
  return kInput;
}

}  // namespace fewbit::session

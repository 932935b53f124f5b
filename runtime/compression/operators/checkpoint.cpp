// Inputs of what runs again.
#include "compression/operators/operator.hpp"

namespace fewbit::session {

namespace {

constexpr SavePolicy kInput = {StorageKind::rotated, 4.0, false, Factor::input};

// Ours, and torch's in Python with use_reentrant=False. With True its input is saved once the
// function has run: too late to see what it is used for.
const OperatorFamily kCheckpoints = {
    {.name = "checkpoint", .library = "fewbit", .saves = {{kAny, kInput}}, .holds_arguments = true},
    {.name = "_NoopSaveInputs", .library = "", .saves = {{kAny, kInput}}, .holds_arguments = true}};

}  // namespace

SavePolicy save_policy_of_checkpoint() {
  return kInput;
}

}  // namespace fewbit::session

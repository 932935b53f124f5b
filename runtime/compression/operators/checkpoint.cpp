// Inputs of what runs again.
#include "compression/operators/operator.hpp"

namespace fewbit::session {

namespace {

constexpr SavePolicy kInput = {StorageKind::rotated, 4.0, false, Factor::input};

// Ours, and torch's in Python with use_reentrant=False and True.
const OperatorFamily kCheckpoints = {
    {.name = "checkpoint", .library = "fewbit", .saves = {{kAny, kInput}}, .holds_arguments = true},
    {.name = "_NoopSaveInputs", .library = "", .saves = {{kAny, kInput}}, .holds_arguments = true},
    {.name = "CheckpointFunction",
     .library = "",
     .saves = {{kAny, kInput}},
     .holds_arguments = true,
     .saves_late = true}};

}  // namespace

SavePolicy save_policy_of_checkpoint() {
  return kInput;
}

}  // namespace fewbit::session

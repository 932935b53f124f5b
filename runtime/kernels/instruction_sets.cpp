#include "kernels/instruction_sets.hpp"

#include <hwy/targets.h>

namespace fewbit::kernels {

int64_t instruction_sets() {
  return hwy::SupportedTargets() & HWY_TARGETS;
}

}  // namespace fewbit::kernels

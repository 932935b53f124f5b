#pragma once

#include <cstdint>

namespace fewbit::kernels {

/// The instruction sets that the kernels were compiled for and that this machine has, as Highway's
/// HWY_SSE4, HWY_AVX2 and so on, together.
int64_t instruction_sets();

}  // namespace fewbit::kernels

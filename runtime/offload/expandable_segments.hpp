#pragma once

#include <string>

namespace fewbit::offload {

/// Has torch's allocator of CUDA memory grow segments instead of taking new ones, so that less is
/// lost between tensors of changing sizes: for the whole process, from now on. Nothing where there
/// is no CUDA device, or where the process has been told by PYTORCH_ALLOC_CONF whether to.
void ask_for_expandable_segments();

/// Settings of that allocator and this one; the same where they say something of it.
std::string with_expandable_segments(const std::string& settings);

}  // namespace fewbit::offload

#pragma once

#include <torch/library.h>

namespace fewbit::stand_in {

/// Has the host run all operations of torch's that it has kernels for and `library` not yet.
void register_host_operations(torch::Library& library);

}  // namespace fewbit::stand_in

#pragma once

#include <memory>

#include <c10/core/Device.h>

#include "offload/store.hpp"

namespace fewbit::offload {

/// A GPU's memory in pinned memory of the host, which torch's allocator reuses. Copies run on a
/// stream of their own, in parallel with what is computed. Waits for the device nowhere.
std::shared_ptr<Store> pinned_store(c10::Device device);

}  // namespace fewbit::offload

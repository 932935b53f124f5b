#pragma once

#include <memory>
#include <vector>

#include "session/saved_bytes_ledger.hpp"

namespace fewbit::session {

// The watches that are open in the calling thread, one ledger each, oldest first. While there are
// any, libtorch reports every operation of the thread (RecordFunction), which tells who saves what:
// autograd itself does not say so to the hooks.
void open_watch(const std::shared_ptr<Ledger>& ledger);
void close_watch(const Ledger* ledger) noexcept;
const std::vector<std::shared_ptr<Ledger>>& open_watches() noexcept;

// The sizes of a tensor; of a nested one the first and -1.
std::vector<std::int64_t> shape_of(const at::Tensor& tensor);

// What is known of a tensor that the calling thread saves right now.
Packed describe(const at::Tensor& tensor);

}  // namespace fewbit::session

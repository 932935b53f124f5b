#include "session/memory_uses.hpp"

#include <utility>

namespace fewbit::session {

const MemoryUses::Use* MemoryUses::find(const at::Tensor& tensor) const {
  const auto found = uses_.find(memory_of(tensor).address());
  if (found == uses_.end()) return nullptr;
  const Use& use = found->second;
  const bool is_same = use.version == tensor._version() && !use.memory.owner.expired();
  return is_same ? &use : nullptr;
}

MemoryUses::Use& MemoryUses::use_of(const at::Tensor& tensor) {
  Memory memory = memory_of(tensor);
  const void* address = memory.address();
  if (find(tensor) == nullptr) {
    uses_.insert_or_assign(address, Use{std::move(memory), tensor._version()});
  }
  return uses_.at(address);
}

bool MemoryUses::is_exact(const at::Tensor& tensor) const {
  const Use* use = find(tensor);
  return use != nullptr && use->is_exact;
}

std::vector<SiteKey> MemoryUses::keep_exact(const at::Tensor& tensor) {
  Use& use = use_of(tensor);
  use.is_exact = true;
  std::vector<SiteKey> sites;
  const at::Tensor all = tensor.detach();
  for (const Coded& coded : std::exchange(use.coded, {})) {
    const auto run = coded.run.lock();
    if (!run || coded.type != tensor.scalar_type()) continue;
    run->hold(all.as_strided(coded.sizes, coded.strides, coded.offset));
    sites.push_back(coded.site);
  }
  return sites;
}

void MemoryUses::add(const at::Tensor& view, const std::shared_ptr<StoredRun>& run,
                     const SiteKey& site) {
  use_of(view).coded.push_back({run, site, view.scalar_type(), view.sizes().vec(),
                                view.strides().vec(), view.storage_offset()});
}

bool MemoryUses::exceeds_exact(const at::Tensor& view) const {
  const Use* use = find(view);
  if (use == nullptr) return false;
  int64_t bytes = 0;
  for (const Coded& coded : use->coded) {
    const auto run = coded.run.lock();
    if (!run || !run->is_settled()) continue;
    for (const at::Tensor& tensor : run->tensors()) bytes += static_cast<int64_t>(tensor.nbytes());
  }
  return bytes > use->memory.bytes;
}

void MemoryUses::end() {
  for (const auto& [address, use] : uses_) {
    for (const Coded& coded : use.coded) {
      if (const auto run = coded.run.lock()) run->forget_listeners();
    }
  }
  uses_.clear();
}

}  // namespace fewbit::session

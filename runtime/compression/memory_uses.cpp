#include "compression/memory_uses.hpp"

#include <algorithm>
#include <utility>

#include <ATen/ops/_neg_view.h>

namespace fewbit::session {

const MemoryUses::Use* MemoryUses::find(const at::Tensor& tensor) const {
  const auto found = uses_.find(address_of(tensor));
  return found != uses_.end() && is_of(found->second, tensor) ? &found->second : nullptr;
}

bool MemoryUses::is_of(const Use& use, const at::Tensor& tensor) {
  return use.version == tensor._version() && !use.memory.owner.expired();
}

MemoryUses::Use& MemoryUses::use_of(const at::Tensor& tensor) {
  const auto [place, is_new] = uses_.try_emplace(address_of(tensor));
  Use& use = place->second;
  if (is_new || !is_of(use, tensor)) use = {memory_of(tensor), tensor._version()};
  return use;
}

bool MemoryUses::is_exact(const at::Tensor& tensor) const {
  const Use* use = find(tensor);
  return use != nullptr &&
         std::ranges::any_of(use->holders, [](const auto& holder) { return !holder.expired(); });
}

void MemoryUses::add_holder(const void* memory, int64_t version, std::weak_ptr<const void> holder) {
  const auto found = uses_.find(memory);
  if (found == uses_.end() || found->second.version != version) return;
  auto& holders = found->second.holders;
  std::erase_if(holders, [](const auto& known) { return known.expired(); });
  holders.push_back(std::move(holder));
}

std::vector<SiteKey> MemoryUses::keep_exact(const at::Tensor& tensor) {
  Use& use = use_of(tensor);
  std::vector<SiteKey> sites;
  if (use.coded.empty()) return sites;
  // As the memory has them: a view may show them with the other sign.
  const at::Tensor plain = tensor.tensor_data();
  const at::Tensor all = tensor.is_neg() ? at::_neg_view(plain) : plain;
  for (const Coded& coded : std::exchange(use.coded, {})) {
    const auto run = coded.run.lock();
    const bool is_same =
        coded.type == tensor.scalar_type() && coded.version.current_version() == coded.at_version;
    if (!run || !is_same || needed_.contains(coded.site)) continue;
    const at::Tensor view = all.as_strided(coded.sizes, coded.strides, coded.offset).tensor_data();
    view.unsafeGetTensorImpl()->set_version_counter(coded.version);
    if (coded.hold) {
      coded.hold(view);
    } else {
      run->hold(view);
    }
    use.holders.push_back(run);
    held_.insert(coded.site);
    sites.push_back(coded.site);
  }
  return sites;
}

void MemoryUses::add(const at::Tensor& view, const std::shared_ptr<StandIn>& run,
                     const SiteKey& site, HoldOf of_view) {
  const c10::VariableVersion& version = view.unsafeGetTensorImpl()->version_counter();
  use_of(view).coded.push_back({run, site, std::move(of_view), version, version.current_version(),
                                view.scalar_type(), view.sizes().vec(), view.strides().vec(),
                                view.storage_offset()});
  runs_.push_back(run);
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
  for (const auto& weak : runs_) {
    if (const auto run = weak.lock()) run->forget_listeners();
  }
  runs_.clear();
  uses_.clear();
}

}  // namespace fewbit::session

// Sites whose way of keeping is given one by one.
#include "compression/compression.hpp"

namespace fewbit::session {

void Compression::assign(const SiteKey& key, Assignment assignment) {
  const std::lock_guard lock(mutex_);
  if (assignment.storage == Storage::offloaded && !stores_)
    stores_ = std::make_shared<offload::Stores>();
  assignments_.insert_or_assign(key, assignment);
  has_changed_ = true;
}

std::optional<Compression::Assignment> Compression::assignment_of(const SiteKey& key) const {
  const auto known = assignments_.find(key);
  return known == assignments_.end() ? std::nullopt : std::optional(known->second);
}

/// By a plan, or else a rule.
std::optional<int> Compression::given_bits(const SiteKey& key, const SaveDecision& decision) const {
  const auto assigned = assignment_of(key);
  return assigned && assigned->bits > 0 ? std::optional(assigned->bits) : decision.rule_bits;
}

void Compression::observe_with(std::shared_ptr<SaveObserver> observer) {
  const std::lock_guard lock(mutex_);
  observer_ = std::move(observer);
  is_observed_ = observer_ != nullptr;
}

std::shared_ptr<SaveObserver> Compression::observer() const {
  if (!is_observed_) return nullptr;
  const std::lock_guard lock(mutex_);
  return observer_;
}

std::vector<Compression::SiteFacts> Compression::site_facts() const {
  std::vector<Compressor::Site> sites = this->sites();
  const std::lock_guard lock(mutex_);
  std::vector<SiteFacts> facts;
  for (size_t i = 0; i < sites.size(); ++i) {
    const SiteState& state = states_[i];
    const bool has_bits =
        state.save_policy.takes_bits() || state.save_policy.storage == StorageKind::codes;
    facts.push_back({std::move(sites[i]), has_bits ? state.coded_bits : 0,
                     state.is_recomputed ? state.root : std::nullopt});
  }
  return facts;
}

}  // namespace fewbit::session

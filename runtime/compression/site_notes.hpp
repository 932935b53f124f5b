#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compression/coder.hpp"
#include "compression/measurement.hpp"
#include "compression/save_decision.hpp"
#include "compression/site_table.hpp"
#include "compression/user_rules.hpp"

namespace fewbit::session {

/// What one forward has to tell of its sites, in that order, until it has ended. So its saved
/// tensors wait for other threads' once each, when it is decided how they are stored. Used by the
/// thread that made it.
class SiteNotes {
 public:
  SiteNotes(const Coder& coder, std::shared_ptr<const UserRules> rules)
      : coder_(coder), rules_(std::move(rules)) {}

  /// One more tensor is stored there.
  void stored(const SiteKey& site, const Subject& subject, const SaveDecision& decision,
              StoredTensor latest);
  /// The latest there is stored in another way than was noted.
  void restored(const SiteKey& site, StoredAs stored, int64_t bytes, int64_t offloaded = 0);
  /// What was coded there is held as it is, since others hold its memory anyway.
  void shared(const SiteKey& site);
  /// By which the latest activation there kept its codes. is_given: its bits are.
  void table(const SiteKey& site, const Table& table, bool is_given);
  void errors(const SiteKey& site, const Measured& measured);
  void recomputed_error(const SiteKey& site, double error, const SiteKey& root);
  /// Another operation keeps what was coded there.
  void raise(const SiteKey& site, const SaveDecision& decision);
  /// An operation keeps so many bytes more as they are.
  void left(const std::string& operation, const std::string& reason, int64_t bytes);

  bool is_of_this_thread() const { return thread_ == std::this_thread::get_id(); }
  /// All of that, once.
  std::vector<SiteChange> taken() { return std::exchange(changes_, {}); }

 private:
  const Coder& coder_;
  std::shared_ptr<const UserRules> rules_;
  std::thread::id thread_ = std::this_thread::get_id();
  std::vector<SiteChange> changes_;
};

}  // namespace fewbit::session

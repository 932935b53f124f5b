#include "compression/site_notes.hpp"

namespace fewbit::session {

void SiteNotes::stored(const SiteKey& site, const Subject& subject, const SaveDecision& decision,
                       StoredTensor latest) {
  const std::vector<const void*>& parameters = subject.event.parameters;
  SiteNote note{site, {}, decision, decision.given_bits, decision.bits, {}, std::move(latest)};
  note.module = decision.storage == StorageKind::codes ? rules_->module_around(parameters)
                                                       : rules_->module_of(parameters);
  if (decision.takes_bits()) note.kind = coder_.kinds(decision, subject).front();
  changes_.push_back([note = std::move(note)](SiteTable& sites) { sites.note(note); });
}

void SiteNotes::restored(const SiteKey& site, StoredAs stored, int64_t bytes, int64_t offloaded) {
  changes_.push_back([=](SiteTable& sites) { sites.note_kept(site, stored, bytes, offloaded); });
}

void SiteNotes::shared(const SiteKey& site) {
  restored(site, stored_exactly(ExactReason::shared), 0);
}

void SiteNotes::table(const SiteKey& site, const Table& table, bool is_given) {
  changes_.push_back([=](SiteTable& sites) { sites.note_table(site, table, is_given); });
}

void SiteNotes::errors(const SiteKey& site, const Measured& measured) {
  changes_.push_back([=](SiteTable& sites) { sites.note_errors(site, measured); });
}

void SiteNotes::recomputed_error(const SiteKey& site, double error, const SiteKey& root) {
  changes_.push_back([=](SiteTable& sites) { sites.note_recomputed_error(site, error, root); });
}

void SiteNotes::raise(const SiteKey& site, const SaveDecision& decision) {
  const std::optional<int> given = rules_->given_bits(site, decision.rule_bits);
  changes_.push_back([site, given, weight = decision.weight](SiteTable& sites) {
    sites.raise(site, weight, given);
  });
}

void SiteNotes::left(const std::string& operation, const std::string& reason, int64_t bytes) {
  changes_.push_back([=](SiteTable& sites) { sites.note_left(operation, reason, bytes); });
}

}  // namespace fewbit::session

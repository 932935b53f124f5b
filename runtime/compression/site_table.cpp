#include "compression/site_table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compression/allocation/activation_bits.hpp"
#include "compression/allocation/error.hpp"

namespace fewbit::session {

StoredAs stored_by(StorageKind storage, const codecs::Codec& codec, int table_bits) {
  if (storage == StorageKind::codes) return stored_by_table(table_bits);
  if (storage == StorageKind::offloaded) return {.storage = Storage::offloaded};
  return {.codec = codec.name(), .bits = codec.bits()};
}

StoredAs stored_by_table(int bits) {
  return {.codec = "few-bit table", .bits = static_cast<double>(bits)};
}

StoredAs stored_exactly(ExactReason reason) {
  return {.storage = Storage::exact, .reason = reason};
}

namespace {

codecs::CodecPointer codec_of(const SiteState& state, const Coder& coder) {
  if (const codecs::CodecPointer exact = exact_codec(state.save_policy.storage)) return exact;
  if (!state.directions || state.coded_choice.count == 0) {
    return coder.codec(state.kind, state.coded_bits);
  }
  const SaveEvent none;
  Subject subject{none};
  subject.directions = chosen(*state.directions, state.coded_choice);
  if (state.directions->is_normalized) subject.statistics = codecs::Statistics();
  return coder.beside_directions(state.coded_bits, subject);
}

}  // namespace

StoredAs stored_at(const SiteState& state, const Coder& coder) {
  if (!state.recompute_path.empty()) {
    return {.storage = Storage::recomputed, .recomputed_by = state.recompute_path};
  }
  const StorageKind storage = state.save_policy.storage;
  if (storage == StorageKind::exact) return stored_exactly();
  return stored_by(storage, *codec_of(state, coder), state.coded_bits);
}

std::vector<double> errors_of(const SiteState& state, const DirectionsChoice& choice,
                              const Coder& coder) {
  if (!state.directions || choice.count == 0 || state.error_of_rest == 0.0) return state.errors;
  const double of_rest = state.error_of_rest * left_of(*state.directions, choice);
  std::vector<double> errors;
  for (int bits = 1; bits <= kMostBits; ++bits) {
    errors.push_back(of_rest * coder.expected_error(CodecKind::rotated, bits));
  }
  return errors;
}

SiteState* SiteTable::find(const SiteKey& site) {
  const auto number = numbers_.find(site);
  return number == numbers_.end() ? nullptr : &states_[number->second];
}

const SiteState* SiteTable::find(const SiteKey& site) const {
  const auto number = numbers_.find(site);
  return number == numbers_.end() ? nullptr : &states_[number->second];
}

int64_t SiteTable::number_of(const SiteKey& site) const {
  const auto number = numbers_.find(site);
  return number == numbers_.end() ? -1 : static_cast<int64_t>(number->second);
}

void SiteTable::replace(std::vector<SiteState> states) {
  states_ = std::move(states);
  numbers_.clear();
  for (size_t i = 0; i < states_.size(); ++i) numbers_[key_of(states_[i].site)] = i;
}

/// What is stored there serves this operation too.
void SiteTable::claim(SiteState& state, double weight, std::optional<int> given_bits) {
  const double most = std::max(state.save_policy.weight, weight);
  const std::optional<int> fixed = std::max(state.fixed, given_bits);
  has_changed |= most > state.save_policy.weight || fixed != state.fixed;
  state.save_policy.weight = most;
  state.fixed = fixed;
}

/// Nothing is known of a site that is stored in another way than before.
void SiteTable::start(SiteState& state, const SiteNote& note) {
  const bool takes_bits = note.save_policy.takes_bits();
  state.save_policy = note.save_policy;
  state.bits = takes_bits ? note.given_bits.value_or(coder_.first_bits(note.save_policy)) : 0;
  if (takes_bits) state.kind = note.kind;
  state.directions.reset();
  state.directions_choice = {};
  state.other_bits = 0.0;
  state.errors.clear();
  state.sensitivity = 0.0;
  state.root.reset();
  state.is_recomputed = false;
  has_changed = true;
}

void SiteTable::note(const SiteNote& note) {
  const auto [number, is_new] = numbers_.try_emplace(note.site, states_.size());
  if (is_new) {
    Compressor::Site& site = states_.emplace_back().site;
    std::tie(site.operation, site.argument, site.call) = note.site;
  }
  SiteState& state = states_[number->second];
  const bool takes_bits = note.save_policy.takes_bits();
  if (state.save_policy.storage != note.save_policy.storage) start(state, note);
  if (takes_bits) {
    claim(state, note.save_policy.weight, note.given_bits);
    // Until bits are split again.
    if (note.given_bits) state.bits = std::max(*note.given_bits, state.fixed.value_or(0));
  }
  state.coded_bits = takes_bits ? note.bits : state.bits;
  state.coded_choice = note.directions_choice;
  const bool is_recomputed = note.latest.stored.storage == Storage::recomputed;
  has_changed |= is_recomputed != state.is_recomputed;
  if (state.is_recomputed && !is_recomputed) state.root.reset();  // what it came of was not there
  state.is_recomputed = is_recomputed;
  state.is_asked_for = note.latest.is_asked_for;
  state.recompute_path = note.latest.stored.recomputed_by;
  Compressor::Site& site = state.site;
  site.stored = note.latest.stored;
  // The running module may be known in the first forward alone.
  if (!note.module.empty()) site.module = note.module;
  ++site.count;
  has_changed |= coder_.options().bytes > 0 && note.latest.elements > state.most_elements;
  site.elements = note.latest.elements;
  state.most_elements = std::max(state.most_elements, note.latest.elements);
  site.bytes_before = note.latest.bytes_before;
  site.bytes_after = note.latest.bytes_after;
  site.bytes_offloaded = note.latest.bytes_offloaded;
}

void SiteTable::note_kept(const SiteKey& site, StoredAs stored, int64_t bytes, int64_t offloaded) {
  SiteState* state = find(site);
  if (state == nullptr) return;
  state->site.stored = std::move(stored);
  state->site.bytes_after = bytes;
  state->site.bytes_offloaded = offloaded;
}

void SiteTable::note_table(const SiteKey& site, const Table& table, bool is_given) {
  SiteState* state = find(site);
  if (state == nullptr) return;
  const int bits = table.bits();
  const std::optional<int> fixed = is_given ? std::optional(bits) : std::nullopt;
  state->bits = bits;
  if (state->coded_bits == bits && state->fixed == fixed) return;
  state->coded_bits = bits;
  state->fixed = fixed;
  state->errors = table_errors(table.function(), table.parameters());
  if (state->errors.front() == 0.0) state->errors.clear();
  has_changed = true;
}

void SiteTable::note_errors(const SiteKey& site, const Measured& measured) {
  SiteState* state = find(site);
  if (state == nullptr) return;
  const double error = measured.error;
  state->kind = measured.kind;
  state->median_share = measured.median_share;
  state->energy_share = measured.energy_share;
  const auto expected = [&](int bits) { return coder_.expected_error(measured.kind, bits); };
  state->errors = measured.bits == 0 ? std::vector<double>(kMostBits, error)
                                     : errors_by_bits(error, measured.bits, expected);
  has_changed = true;
}

void SiteTable::note_directions(const SiteKey& site, const FoundDirections& found) {
  SiteState* state = find(site);
  if (state == nullptr) return;
  std::tie(state->directions, state->error_of_rest) =
      std::tie(found.directions, found.error_of_rest);
  has_changed = true;
}

void SiteTable::move_directions(const SiteKey& site, c10::Device device) {
  SiteState* state = find(site);
  if (state == nullptr || !state->directions) return;
  auto moved = std::make_shared<SiteDirections>(*state->directions);
  moved->basis = moved->basis.to(device);
  state->directions = std::move(moved);
}

void SiteTable::note_recomputed_error(const SiteKey& site, double error, const SiteKey& root) {
  SiteState* state = find(site);
  const SiteState* source = find(root);
  if (state == nullptr || source == nullptr) return;
  if (source->errors.empty() || source->coded_bits < 1) return;
  const double of_root =
      errors_of(*source, source->coded_choice, coder_)[static_cast<size_t>(source->coded_bits) - 1];
  if (state->root != root) state->floor_bits = 0;
  state->root = root;
  state->ratio = error == 0.0 ? 0.0 : error / of_root;
  if (source->coded_bits >= state->floor_bits) {
    state->floor_bits = source->coded_bits;
    state->floor = error;
  }
  has_changed = true;
}

void SiteTable::note_sensitivity(const SiteKey& site, double sensitivity) {
  SiteState* state = find(site);
  if (state == nullptr || !std::isfinite(sensitivity)) return;
  state->sensitivity = sensitivity;
  has_changed = true;
}

void SiteTable::raise(const SiteKey& site, double weight, std::optional<int> given_bits) {
  if (SiteState* state = find(site)) claim(*state, weight, given_bits);
}

void SiteTable::note_left(const std::string& operation, const std::string& reason, int64_t bytes) {
  auto known = std::ranges::find_if(left_alone, [&](const Compressor::LeftAlone& one) {
    return one.operation == operation && one.reason == reason;
  });
  if (known == left_alone.end()) known = left_alone.insert(known, {operation, reason});
  ++known->count;
  known->bytes += bytes;
}

void SiteNotes::stored(const SiteKey& site, const Subject& subject, const SaveDecision& decision,
                       StoredTensor latest) {
  const Addresses& parameters = subject.event.parameters;
  SiteNote note{.site = site,
                .save_policy = decision,
                .given_bits = decision.given_bits,
                .bits = decision.bits,
                .latest = std::move(latest)};
  note.module = decision.storage == StorageKind::codes ? rules_->module_around(parameters)
                                                       : rules_->module_of(parameters);
  if (const auto running = running_.find(site); note.module.empty() && running != running_.end()) {
    note.module = running->second;
  }
  if (decision.takes_bits()) note.kind = coder_.kinds(decision, subject).front();
  if (subject.directions) note.directions_choice = decision.directions_choice;
  changes_.push_back([note = std::move(note)](SiteTable& sites) { sites.note(note); });
}

void SiteNotes::saves(const SiteKey& site, const SaveEvent& event) {
  if (!rules_->asks_for_modules() || !rules_->module_of(event.parameters).empty()) return;
  running_.insert_or_assign(site, rules_->running_module());
}

void SiteNotes::stored_otherwise(const SiteKey& site, StoredAs stored, int64_t bytes,
                                 int64_t offloaded) {
  changes_.push_back([=](SiteTable& sites) { sites.note_kept(site, stored, bytes, offloaded); });
}

void SiteNotes::shared(const SiteKey& site) {
  stored_otherwise(site, stored_exactly(ExactReason::shared), 0);
}

void SiteNotes::table(const SiteKey& site, const Table& table, bool is_given) {
  changes_.push_back([=](SiteTable& sites) { sites.note_table(site, table, is_given); });
}

void SiteNotes::errors(const SiteKey& site, const Measured& measured) {
  changes_.push_back([=](SiteTable& sites) { sites.note_errors(site, measured); });
}

void SiteNotes::directions(const SiteKey& site, const FoundDirections& found) {
  changes_.push_back([=](SiteTable& sites) { sites.note_directions(site, found); });
}

void SiteNotes::move_directions(const SiteKey& site, c10::Device device) {
  changes_.push_back([=](SiteTable& sites) { sites.move_directions(site, device); });
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

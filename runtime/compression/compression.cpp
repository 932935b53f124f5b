#include "compression/compression.hpp"

#include <algorithm>
#include <utility>

#include <ATen/Context.h>

#include "codecs/small_runs.hpp"
#include "compression/operators/consumer.hpp"
#include "compression/save_observer.hpp"
#include "compression/state_file.hpp"
#include "dispatch/interception.hpp"
#include "offload/expandable_segments.hpp"
#include "ops/activation.hpp"
#include "ops/graph_capture.hpp"
#include "ops/next_seed.hpp"
#include "trace/running_operations.hpp"
#include "trace/streams.hpp"

namespace fewbit::session {

namespace {

/// Errors are measured at a site's first, second, third, fifth, ... tensor, and every so many.
constexpr int64_t kMeasured = 256;

bool is_due(int64_t count) {
  return count >= kMeasured ? count % kMeasured == 0 : (count & (count - 1)) == 0;
}

bool is_plain(const at::Tensor& tensor) {
  return tensor.layout() == at::kStrided && tensor.has_storage() && !tensor.is_nested() &&
         !tensor.is_quantized() && !tensor.is_neg() && !tensor.is_meta() &&
         ops::runs_on(tensor.device().type());
}

}  // namespace

Compression::Compression(const CompressorOptions& options)
    : coder_(options), rules_(std::make_shared<UserRules>(options.scheme)), sites_(coder_) {
  if (options.decoded_cache_bytes != 0) {
    held_ = std::make_shared<DecodedCache>(options.decoded_cache_bytes);
  }
  if (coder_.offloads()) need_stores();
  if (coder_.expands_segments()) offload::ask_for_expandable_segments();
}

std::shared_ptr<const codecs::Encoded> Compression::held(
    std::shared_ptr<const codecs::Encoded> run) const {
  return holding(std::move(run), held_);
}

std::shared_ptr<const codecs::Encoded> Compression::held(std::shared_ptr<const codecs::Encoded> run,
                                                         const at::Tensor& coded) const {
  if (held_) held_->note_coded(static_cast<int64_t>(coded.nbytes()));
  if (coded.is_cpu()) return held(std::move(run));
  // What one launch decodes is held until its other uses, which would take one each.
  if (held_) held_->hold_at_least(codecs::SmallRuns::kMostBytes);
  return holding(std::move(run), held_, current_stream(coded));
}

void Compression::need_stores() {
  if (!stores_) stores_ = std::make_shared<offload::Stores>();
}

void Compression::set_rule(const std::string& pattern, Bits bits) {
  check_bits("a rule's bits", bits.count);
  add_rule({pattern, bits.count, {}});
}

void Compression::set_rule(const std::string& pattern, StorageKind storage) {
  add_rule({pattern, {}, storage});
}

void Compression::add_rule(UserRules::Rule rule) {
  const std::lock_guard lock(mutex_);
  if (rule.storage == StorageKind::offloaded) need_stores();
  const auto rules = copied_rules();
  rules->add(std::move(rule));
  rules_ = rules;
  // As the rules are now, once it is met again.
  for (SiteState& state : sites_.all()) state.fixed.reset();
  sites_.has_changed = true;
}

void Compression::name(const torch::OrderedDict<std::string, at::Tensor>& parameters) {
  const std::lock_guard lock(mutex_);
  const auto rules = copied_rules();
  for (const auto& parameter : parameters) rules->name(parameter.key(), parameter.value());
  rules_ = rules;
}

void Compression::set_running_module(std::function<std::string()> module) {
  std::shared_ptr<const UserRules> before;  // whose function may wait for another lock as it goes
  const std::lock_guard lock(mutex_);
  const auto rules = copied_rules();
  rules->set_running_module(std::move(module));
  before = std::exchange(rules_, rules);
}

void Compression::set_random_stream(int64_t stream) {
  const std::lock_guard lock(mutex_);
  stream_ = static_cast<uint64_t>(stream);
}

void Compression::set_recompute(const std::string& name, Recompute when) {
  const std::lock_guard lock(mutex_);
  const auto rules = copied_rules();
  rules->set_recompute(name, when);
  rules_ = rules;
  sites_.has_changed = true;
}

void Compression::assign(const std::map<SiteKey, UserRules::Assignment>& sites) {
  const std::lock_guard lock(mutex_);
  const auto rules = copied_rules();
  for (const auto& [site, assignment] : sites) {
    if (assignment.storage == Storage::offloaded) need_stores();
    rules->assign(site, assignment);
  }
  rules_ = rules;
  sites_.has_changed = true;
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

SaveDecision Compression::decide(const SiteKey& site, const at::Tensor& tensor,
                                 const SaveEvent& event) const {
  if (is_in_backward()) return {};
  const std::lock_guard lock(mutex_);
  const UserRules::Rule* rule = rules_->rule_of(event.facts.operation, event.parameters);
  if ((rule != nullptr && rule->leaves_alone()) || !is_plain(tensor)) return {};
  SaveDecision decision{save_policy_of(tensor, event)};
  if (!coder_.codes(decision)) decision = {};
  if (rule != nullptr) apply(*rule, tensor, event, decision);
  if (const auto assigned = rules_->assignment_of(site)) decision.planned = assigned->storage;
  decision.given_bits = rules_->given_bits(site, decision.rule_bits);
  const SiteState* state = std::as_const(sites_).find(site);
  decision.is_observed = observer_ != nullptr;
  // Errors are numbers that the host waits for.
  decision.is_due = !decision.is_observed && (state == nullptr || is_due(state->site.count)) &&
                    !ops::is_captured(tensor.device());
  decision.is_better_recomputed = state != nullptr && state->is_recomputed;
  decision.may_normalize =
      state == nullptr || decision.is_due || state->kind == CodecKind::normalized ||
      (state->directions && state->directions->is_normalized && state->directions_choice.count > 0);
  choose_codec(state, decision);
  return decision;
}

void Compression::choose_codec(const SiteState* state, SaveDecision& decision) const {
  if (!decision.takes_bits()) return;
  if (state == nullptr || !state->save_policy.takes_bits()) {
    decision.bits = decision.given_bits.value_or(coder_.first_bits(decision));
    return;
  }
  decision.kind = state->kind;
  decision.directions = state->directions;
  decision.directions_choice = state->directions_choice;
  decision.bits =
      decision.given_bits ? std::max(*decision.given_bits, state->fixed.value_or(0)) : state->bits;
}

void Compression::apply(const UserRules::Rule& rule, const at::Tensor& tensor,
                        const SaveEvent& event, SaveDecision& decision) {
  const std::string& operation = event.facts.operation;
  // What an activation saves is read where its derivative falls to 0: a table or nothing. A
  // quotient divides by what it saves: a pattern for many operations does not mean that.
  const bool stays =
      (rule.bits && is_activation(operation)) || (rule.is_wide() && is_division(operation));
  if (decision.storage == StorageKind::exact && !stays && may_take_bits(tensor, event)) {
    decision = {{StorageKind::rotated, 1.0}};
  }
  if (decision.takes_bits() && rule.storage) decision.storage = *rule.storage;
  decision.has_rule = true;
  decision.rule_bits = rule.bits;
}

codecs::CodecPointer Compression::codec_of(const Subject& subject,
                                           const SaveDecision& decision) const {
  if (decision.storage == StorageKind::integers) return codec_of_integers(subject.event);
  if (auto exact = exact_codec(decision.storage)) return exact;
  if (subject.directions && decision.directions_choice.count > 0) {
    return coder_.beside_directions(decision.bits, subject);
  }
  const std::vector<CodecKind> kinds = coder_.kinds(decision, subject);
  // What its elements are like may not be known this time.
  const bool is_possible = decision.kind && std::ranges::find(kinds, *decision.kind) != kinds.end();
  return coder_.codec(is_possible ? *decision.kind : kinds.front(), decision.bits, &subject);
}

bool Compression::leaves_alone(std::string_view operation) const {
  const std::lock_guard lock(mutex_);
  const UserRules::Rule* rule = rules_->rule_of(operation, {});
  return rule != nullptr && rule->leaves_alone();
}

void Compression::keep_failure(std::exception_ptr failure) noexcept {
  const std::lock_guard lock(mutex_);
  failure_ = std::move(failure);
}

Compression::Forward Compression::begin_forward() {
  const uint64_t seed = at::globalContext().defaultGenerator(at::kCPU).current_seed();
  const std::lock_guard lock(mutex_);
  if (const auto failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
  sites_.left_alone.clear();
  const uint64_t start = ops::mixed(seed) ^ (stream_ == 0 ? 0 : ops::mixed(stream_));
  Forward forward{static_cast<int64_t>(ops::mixed(start + ++forwards_) >> 1), rules_,
                  std::make_shared<SiteNotes>(coder_, rules_), nullptr};
  open_.push_back(forward.notes);
  if (stores_) {
    forward.offload = std::make_shared<offload::HostOffload>(
        [stores = stores_](c10::Device device) { return stores->of(device); });
  }
  return forward;
}

void Compression::take(SiteNotes& notes) const {
  for (const SiteChange& change : notes.taken()) change(sites_);
}

/// What is asked for inside of a scope is as it is then.
void Compression::take_notes_of_this_thread() const {
  std::erase_if(open_, [](const auto& notes) { return notes.expired(); });
  for (const auto& open : open_) {
    const auto notes = open.lock();
    if (notes && notes->is_of_this_thread()) take(*notes);
  }
}

void Compression::end_forward(SiteNotes& notes) {
  const std::lock_guard lock(mutex_);
  take(notes);
  std::erase_if(open_,
                [&](const auto& open) { return open.expired() || open.lock().get() == &notes; });
  allocation().split();
}

void Compression::note_sensitivity(const SiteKey& site, double sensitivity) {
  const std::lock_guard lock(mutex_);
  sites_.note_sensitivity(site, sensitivity);
}

std::vector<Compressor::LeftAlone> Compression::left_alone() const {
  const std::lock_guard lock(mutex_);
  take_notes_of_this_thread();
  return sites_.left_alone;
}

std::optional<double> Compression::split_gap() const {
  const std::lock_guard lock(mutex_);
  take_notes_of_this_thread();
  return allocation().gap();
}

std::vector<Compressor::Site> Compression::sites() const {
  const std::lock_guard lock(mutex_);
  take_notes_of_this_thread();
  const BitAllocation allocation = this->allocation();
  std::vector<Compressor::Site> sites;
  for (const SiteState& state : sites_.all()) {
    Compressor::Site& site = sites.emplace_back(state.site);
    site.error = allocation.error_of(state);
    site.median_error = allocation.median_error_of(state);
    if (state.directions) {
      site.bytes_of_directions = static_cast<int64_t>(state.directions->basis.nbytes());
    }
  }
  return sites;
}

std::vector<Compression::SiteFacts> Compression::site_facts() const {
  std::vector<Compressor::Site> sites = this->sites();
  const std::lock_guard lock(mutex_);
  std::vector<SiteFacts> facts;
  for (size_t i = 0; i < sites.size(); ++i) {
    const SiteState& state = sites_.all()[i];
    const bool has_bits =
        state.save_policy.takes_bits() || state.save_policy.storage == StorageKind::codes;
    facts.push_back({std::move(sites[i]), has_bits ? state.coded_bits : 0,
                     state.is_recomputed ? state.root : std::nullopt});
  }
  return facts;
}

void Compression::save(const std::string& path) const {
  const std::string text = [&] {
    const std::lock_guard lock(mutex_);
    take_notes_of_this_thread();
    return text_of(sites_, forwards_);
  }();
  write_state(path, text);
}

void Compression::load(const std::string& path) {
  SavedState state = read_state(path, coder_);
  const std::lock_guard lock(mutex_);
  take_notes_of_this_thread();
  sites_.replace(std::move(state.sites));
  sites_.has_changed = state.has_changed;
  forwards_ = state.forwards;
}

}  // namespace fewbit::session

#include "compression/compression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include <ATen/Context.h>
#include <c10/util/Exception.h>

#include "compression/allocation/budget.hpp"
#include "compression/allocation/error.hpp"
#include "compression/operators/consumer.hpp"
#include "dispatch/activation_call.hpp"
#include "dispatch/interception.hpp"
#include "offload/expandable_segments.hpp"
#include "ops/activation.hpp"
#include "trace/backward_pass.hpp"
#include "trace/contents.hpp"

namespace fewbit::session {

namespace {

/// Errors are measured at a site's first, second, third, fifth, ... tensor, and every so many.
constexpr int64_t kMeasured = 64;

bool is_plain(const at::Tensor& tensor) {
  return tensor.layout() == at::kStrided && tensor.has_storage() && !tensor.is_nested() &&
         !tensor.is_quantized() && !tensor.is_neg() && !tensor.is_meta() &&
         ops::runs_on(tensor.device().type());
}

/// Null for those that take bits.
codecs::CodecPointer exact_codec(StorageKind storage) {
  switch (storage) {
    case StorageKind::mask:
      return codecs::mask();
    case StorageKind::integers:
      return codecs::integers();
    case StorageKind::sizes:
      return codecs::sizes_only();
    case StorageKind::bf16:
      return codecs::cast(at::kBFloat16);
    case StorageKind::e4m3:
      return codecs::cast(at::kFloat8_e4m3fn);
    case StorageKind::e5m2:
      return codecs::cast(at::kFloat8_e5m2);
    case StorageKind::offloaded:
    case StorageKind::codes:
      return codecs::identity();
    default:
      return nullptr;
  }
}

/// A permutation of 64 bits that leaves no trace of order (Steele, Lea and Flood, SplittableRandom,
/// 2014).
uint64_t mixed(uint64_t word) {
  word += 0x9E3779B97F4A7C15u;
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
  return word ^ (word >> 31);
}

/// * in the pattern stands for any characters.
bool fits_pattern(std::string_view text, std::string_view pattern) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return text == pattern;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (size_t i = star; i <= text.size(); ++i) {
    if (fits_pattern(text.substr(i), rest)) return true;
  }
  return false;
}

/// An activation by the name that an alias stands for; others as they are.
std::string standard_pattern(const std::string& pattern) {
  std::string reason;
  const auto table = standard_or_reason(pattern, Bits{1}, {}, reason);
  return table ? table->function() : pattern;
}

}  // namespace

Compression::Compression(const CompressorOptions& options) : coder_(options) {
  if (options.decoded_cache_bytes > 0)
    held_ = std::make_shared<DecodedCache>(options.decoded_cache_bytes);
  if (coder_.offloads()) stores_ = std::make_shared<offload::Stores>();
  if (coder_.expands_segments()) offload::ask_for_expandable_segments();
}

std::shared_ptr<const codecs::Encoded> Compression::held(
    std::shared_ptr<const codecs::Encoded> run) const {
  return held_ ? holding(std::move(run), held_) : run;
}

std::shared_ptr<offload::HostOffload> Compression::new_offload() const {
  const std::lock_guard lock(mutex_);
  if (!stores_) return nullptr;
  return std::make_shared<offload::HostOffload>(
      [stores = stores_](c10::Device device) { return stores->of(device); });
}

void Compression::set_rule(const std::string& pattern, Bits bits) {
  check_bits("a rule's bits", bits.count);
  add({standard_pattern(pattern), bits.count, {}});
}

void Compression::set_rule(const std::string& pattern, StorageKind storage) {
  add({standard_pattern(pattern), {}, storage});
}

void Compression::add(Rule rule) {
  const std::lock_guard lock(mutex_);
  if (rule.storage == StorageKind::offloaded && !stores_)
    stores_ = std::make_shared<offload::Stores>();
  rules_.push_back(std::move(rule));
  for (SiteState& state : states_)
    state.fixed.reset();  // as the rules are now, once it is met again
  has_changed_ = true;
}

void Compression::name(const std::string& name, const at::Tensor& parameter) {
  Memory memory = memory_of(parameter);
  const std::lock_guard lock(mutex_);
  const void* address = memory.address();
  parameters_.insert_or_assign(address, Parameter{std::move(memory), name});
}

const Compression::Rule* Compression::rule_of(std::span<const std::string_view> names,
                                              std::span<const void* const> parameters) const {
  const auto fits = [&](const Rule& rule) {
    const auto is_meant = [&](std::string_view name) { return fits_pattern(name, rule.pattern); };
    if (std::ranges::any_of(names, is_meant)) return true;
    return std::ranges::any_of(parameters, [&](const void* address) {
      const auto known = parameters_.find(address);
      return known != parameters_.end() && is_meant(known->second.name);
    });
  };
  const auto rule = std::find_if(rules_.rbegin(), rules_.rend(), fits);
  return rule == rules_.rend() ? nullptr : &*rule;
}

/// The name of a parameter without what it is in its module.
std::string Compression::module_of(const std::vector<const void*>& parameters) const {
  for (const void* address : parameters) {
    const auto known = parameters_.find(address);
    if (known == parameters_.end()) continue;
    const std::string& name = known->second.name;
    const size_t dot = name.rfind('.');
    return dot == std::string::npos ? name : name.substr(0, dot);
  }
  return "";
}

SaveDecision Compression::decide(const SiteKey& site, const at::Tensor& tensor,
                                 const SaveEvent& event) const {
  if (is_in_backward() || !is_plain(tensor)) return {};
  const std::lock_guard lock(mutex_);
  const Rule* rule = rule_of(names_of(event.facts.operation), event.parameters);
  if (rule != nullptr && rule->leaves_alone()) return {};
  SaveDecision decision{save_policy_of(tensor, event)};
  if (!coder_.codes(decision)) decision = {};
  if (rule != nullptr) apply(*rule, tensor, event, decision);
  if (const auto assigned = assignment_of(site)) decision.planned = assigned->storage;
  const auto number = numbers_.find(site);
  const SiteState* state = number == numbers_.end() ? nullptr : &states_[number->second];
  decision.is_observed = observer_ != nullptr;
  decision.is_due = !decision.is_observed && (state == nullptr || measures(state->site.count));
  decision.is_better_recomputed = state != nullptr && state->is_recomputed;
  decision.may_normalize =
      state == nullptr || decision.is_due || state->kind == CodecKind::normalized;
  return decision;
}

void Compression::apply(const Rule& rule, const at::Tensor& tensor, const SaveEvent& event,
                        SaveDecision& decision) {
  const std::string& operation = event.facts.operation;
  // What an activation keeps is read where its derivative falls to 0: a table or nothing. What a
  // quotient keeps it divides by: a pattern for many operations does not mean that.
  const bool is_wide = rule.pattern.find('*') != std::string::npos;
  const bool stays = (rule.bits && is_activation(operation)) || (is_wide && is_division(operation));
  if (decision.storage == StorageKind::exact && !stays && may_take_bits(tensor, event)) {
    decision = {{StorageKind::rotated, 1.0}};
  }
  if (decision.takes_bits() && rule.storage) decision.storage = *rule.storage;
  decision.has_rule = true;
  decision.rule_bits = rule.bits;
}

bool Compression::leaves_alone(std::string_view operation) const {
  const std::lock_guard lock(mutex_);
  const Rule* rule = rule_of(names_of(operation), {});
  return rule != nullptr && rule->leaves_alone();
}

int Compression::first_bits(const SiteKey& key, const SaveDecision& decision) const {
  return given_bits(key, decision).value_or(coder_.first_bits(decision));
}

StoredAs Compression::stored_at(const SiteState& state) const {
  if (!state.recompute_path.empty()) {
    return {.storage = Storage::recomputed, .recomputed_by = state.recompute_path};
  }
  if (state.save_policy.storage == StorageKind::codes) return table(state.coded_bits);
  if (state.save_policy.storage == StorageKind::exact) return exact();
  const codecs::CodecPointer exact = exact_codec(state.save_policy.storage);
  return coded(*(exact ? exact : coder_.codec(state.kind, state.coded_bits)));
}

codecs::CodecPointer Compression::codec_at(const SiteKey& key, const Subject& subject,
                                           const SaveDecision& decision) {
  if (decision.storage == StorageKind::integers) return codec_of_integers(subject.event);
  if (auto exact = exact_codec(decision.storage)) return exact;
  const std::vector<CodecKind> kinds = coder_.kinds(decision, subject);
  const std::lock_guard lock(mutex_);
  const auto number = numbers_.find(key);
  if (number == numbers_.end() || !states_[number->second].save_policy.takes_bits()) {
    return coder_.codec(kinds.front(), first_bits(key, decision), &subject);
  }
  SiteState& state = states_[number->second];
  // What its elements are like may not be known this time.
  const bool is_possible = std::ranges::find(kinds, state.kind) != kinds.end();
  const CodecKind kind = is_possible ? state.kind : kinds.front();
  // Until bits are split again.
  if (const auto given = given_bits(key, decision)) {
    state.bits = std::max(*given, state.fixed.value_or(0));
  }
  return coder_.codec(kind, state.bits, &subject);
}

/// What is kept there serves this operation too.
void Compression::claim(SiteState& state, const SaveDecision& decision) {
  const double weight = std::max(state.save_policy.weight, decision.weight);
  const std::optional<int> fixed = std::max(state.fixed, given_bits(key_of(state.site), decision));
  has_changed_ |= weight > state.save_policy.weight || fixed != state.fixed;
  state.save_policy.weight = weight;
  state.fixed = fixed;
}

/// Nothing is known of a site that is kept in another way than before.
void Compression::start(SiteState& state, const Subject& subject, const SaveDecision& decision) {
  const bool takes_bits = decision.takes_bits();
  state.save_policy = decision;
  state.bits = takes_bits ? first_bits(key_of(state.site), decision) : 0;
  if (takes_bits) state.kind = coder_.kinds(decision, subject).front();
  state.other_bits = 0.0;
  state.errors.clear();
  state.sensitivity = 0.0;
  state.root.reset();
  state.is_recomputed = false;
  has_changed_ = true;
}

void Compression::note(const SiteKey& key, const Subject& subject, const SaveDecision& decision,
                       const Latest& latest) {
  const std::lock_guard lock(mutex_);
  const auto [number, is_new] = numbers_.try_emplace(key, states_.size());
  if (is_new) {
    const auto& [operation, argument, call] = key;
    SiteState state;
    state.site.operation = operation;
    state.site.argument = argument;
    state.site.call = call;
    states_.push_back(std::move(state));
  }
  SiteState& state = states_[number->second];
  if (state.save_policy.storage != decision.storage) start(state, subject, decision);
  if (decision.takes_bits()) claim(state, decision);
  state.coded_bits = state.bits;
  const bool is_recomputed = latest.stored.storage == Storage::recomputed;
  has_changed_ |= is_recomputed != state.is_recomputed;
  if (state.is_recomputed && !is_recomputed) state.root.reset();  // what it came of was not there
  state.is_recomputed = is_recomputed;
  state.is_asked_for = latest.is_asked_for;
  state.recompute_path = latest.stored.recomputed_by;
  Compressor::Site& site = state.site;
  site.stored = latest.stored;
  const auto& parameters = subject.event.parameters;
  const bool is_activation = decision.storage == StorageKind::codes;
  site.module = is_activation ? module_around(parameters) : module_of(parameters);
  ++site.count;
  has_changed_ |= options().bytes > 0 && latest.elements > state.most_elements;
  site.elements = latest.elements;
  state.most_elements = std::max(state.most_elements, latest.elements);
  site.bytes_before = latest.bytes_before;
  site.bytes_after = latest.bytes_after;
  site.bytes_offloaded = latest.bytes_offloaded;
}

void Compression::note_left(const std::string& operation, const std::string& reason,
                            int64_t bytes) {
  const std::lock_guard lock(mutex_);
  auto known = std::ranges::find_if(left_alone_, [&](const Compressor::LeftAlone& one) {
    return one.operation == operation && one.reason == reason;
  });
  if (known == left_alone_.end()) known = left_alone_.insert(known, {operation, reason});
  ++known->count;
  known->bytes += bytes;
}

std::vector<Compressor::LeftAlone> Compression::left_alone() const {
  const std::lock_guard lock(mutex_);
  return left_alone_;
}

void Compression::note_kept(const SiteKey& key, StoredAs stored, int64_t bytes, int64_t offloaded) {
  const std::lock_guard lock(mutex_);
  const auto number = numbers_.find(key);
  if (number == numbers_.end()) return;
  Compressor::Site& site = states_[number->second].site;
  site.stored = std::move(stored);
  site.bytes_after = bytes;
  site.bytes_offloaded = offloaded;
}

bool Compression::measures(int64_t count) {
  return count >= kMeasured ? count % kMeasured == 0 : (count & (count - 1)) == 0;
}

/// What its gradient is linear in: of a norm what that makes of it.
double Compression::error_in(const Subject& subject, const SavePolicy& save_policy,
                             const at::Tensor& run, const at::Tensor& decoded) {
  if (!subject.statistics) return error_of(run, decoded, save_policy.is_norm);
  const at::Tensor back = decoded.as_strided(run.sizes(), run.strides());
  const at::Tensor again = codecs::normalized(back, *subject.statistics);
  return error_of(codecs::normalized(run, *subject.statistics),
                  again.as_strided({again.numel()}, {1}), save_policy.is_norm);
}

/// The codec that errs least there in so many bits, and its errors.
Compression::Measured Compression::least_error(const Subject& subject,
                                               const SavePolicy& save_policy, int bits,
                                               const at::Tensor& run,
                                               const codecs::RandomStream& random,
                                               const std::optional<CodedRun>& coded) const {
  constexpr double kWorthAPass = 0.8;  // of the error without
  std::optional<Measured> least;
  at::Tensor best;
  for (const CodecKind kind : coder_.kinds(save_policy, subject)) {
    const codecs::CodecPointer codec = coder_.codec(kind, bits, &subject);
    const bool is_known = coded && coded->codec == codecs::text_of(*codec);
    const at::Tensor decoded =
        is_known ? coded->run.decoded() : codec->encode(run, random)->decoded();
    const double error = error_in(subject, save_policy, run, decoded);
    const double needed = kind == CodecKind::normalized ? kWorthAPass : 1.0;
    if (least && !(error < needed * least->error)) continue;
    least = {kind, error, 0.0};
    best = decoded;
  }
  least->median_error = median_error_of(run, best, save_policy.is_norm);
  return *least;
}

void Compression::measure(const SiteKey& key, const Subject& subject, const SavePolicy& save_policy,
                          const at::Tensor& run, const std::optional<CodedRun>& coded,
                          const codecs::RandomStream& random) {
  const bool is_fixed = is_cast(save_policy.storage);
  if (!save_policy.takes_bits() && !is_fixed) return;
  int bits = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto number = numbers_.find(key);
    if (number == numbers_.end()) return;  // others were loaded meanwhile
    bits = states_[number->second].bits;
  }
  const auto errors_of = [&](const at::Tensor& decoded) {
    return Measured{CodecKind::rotated, error_in(subject, save_policy, run, decoded),
                    median_error_of(run, decoded, save_policy.is_norm)};
  };
  Measured least = is_fixed ? errors_of(coded->run.decoded())
                            : least_error(subject, save_policy, bits, run, random, coded);
  if (!is_fixed && least.error == 0.0 && bits > 1) {
    bits = 1;  // all that a short type tells is held: that says nothing of fewer
    least = least_error(subject, save_policy, bits, run, random, {});
  }
  const double error = least.error;
  if (!std::isfinite(error)) return;  // of a tensor that is not: nothing to split bits by
  const std::lock_guard lock(mutex_);
  const auto number = numbers_.find(key);
  if (number == numbers_.end()) return;
  SiteState& state = states_[number->second];
  state.kind = least.kind;
  state.median_share = error > 0.0 ? least.median_error / error : 0.0;
  const auto expected = [this, least = state.kind](int b) {
    return coder_.expected_error(least, b);
  };
  state.errors =
      is_fixed ? std::vector<double>(kMostBits, error) : errors_by_bits(error, bits, expected);
  has_changed_ = true;
}

void Compression::raise(const SiteKey& key, const SaveDecision& decision) {
  const std::lock_guard lock(mutex_);
  const auto number = numbers_.find(key);
  if (number == numbers_.end()) return;
  claim(states_[number->second], decision);
}

void Compression::keep_failure(std::exception_ptr failure) noexcept {
  const std::lock_guard lock(mutex_);
  failure_ = std::move(failure);
}

int64_t Compression::begin_forward() {
  const uint64_t seed = at::globalContext().defaultGenerator(at::kCPU).current_seed();
  const std::lock_guard lock(mutex_);
  if (const auto failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
  left_alone_.clear();
  return static_cast<int64_t>(mixed(mixed(seed) + ++forwards_) >> 1);
}

void Compression::end_forward() {
  const std::lock_guard lock(mutex_);
  for (SiteState& state : states_) note_other_bits(state);
  if (!has_changed_) return;
  has_changed_ = false;
  choose_derived();
  if (!coder_.splits_bits()) return;
  const std::vector<Demand> demands = this->demands();
  const Averages average = averages(demands);
  for (SiteState& state : states_) {
    if (follows_bits(state)) state.bits = bits_beside(state, average.of_activations);
  }
  const std::vector<int> bits = split_bits(demands, average.of_others).bits;
  size_t next = 0;
  for (SiteState& state : states_) {
    if (takes_budget(state)) state.bits = bits[next++];
  }
}

std::optional<double> Compression::split_gap() const {
  if (!coder_.splits_bits()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (!coder_.splits_bits()) return std::nullopt;
  const std::vector<Demand> demands = this->demands();
  double loss = 0.0;
  size_t next = 0;
  for (const SiteState& state : states_) {
    if (!takes_budget(state)) continue;
    const Demand& demand = demands[next++];
    loss += demand.elements * demand.weight * demand.error[static_cast<size_t>(state.bits) - 1];
  }
  const double bound = split_bits(demands, averages(demands).of_others).bound;
  if (bound <= 0.0) return std::nullopt;
  return std::max(loss / bound - 1.0, 0.0);
}

std::vector<Compressor::Site> Compression::sites() const {
  const std::lock_guard lock(mutex_);
  std::vector<Compressor::Site> sites;
  for (const SiteState& state : states_) {
    Compressor::Site& site = sites.emplace_back(state.site);
    const auto origin = state.is_recomputed ? origin_of(state) : std::nullopt;
    const SiteState& coded = origin ? states_[origin->root] : state;
    if (coded.errors.empty()) continue;
    const double error = coded.errors[static_cast<size_t>(std::max(coded.coded_bits, 1)) - 1];
    site.error = origin ? recomputed_error(*origin, coded, coded.coded_bits) : error;
    site.median_error = coded.median_share * site.error;
  }
  return sites;
}

}  // namespace fewbit::session

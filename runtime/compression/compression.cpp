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
#include "compression/consumers.hpp"
#include "dispatch/activation_call.hpp"
#include "dispatch/interception.hpp"
#include "ops/activation.hpp"
#include "swap/expandable_segments.hpp"
#include "trace/backward_pass.hpp"
#include "trace/contents.hpp"

namespace fewbit::session {

namespace {

/// Errors are measured at a place's first, second, third, fifth, ... tensor, and every so many.
constexpr int64_t kMeasured = 64;

bool is_plain(const at::Tensor& tensor) {
  return tensor.layout() == at::kStrided && tensor.has_storage() && !tensor.is_nested() &&
         !tensor.is_quantized() && !tensor.is_neg() && !tensor.is_meta() &&
         ops::runs_on(tensor.device().type());
}

/// Null for those that take bits.
codecs::CodecPointer exact_codec(Way way) {
  switch (way) {
    case Way::mask:
      return codecs::mask();
    case Way::integers:
      return codecs::integers();
    case Way::sizes:
      return codecs::sizes_only();
    case Way::bf16:
      return codecs::cast(at::kBFloat16);
    case Way::e4m3:
      return codecs::cast(at::kFloat8_e4m3fn);
    case Way::e5m2:
      return codecs::cast(at::kFloat8_e5m2);
    case Way::away:
    case Way::codes:
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
  if (options.held_bytes > 0) held_ = std::make_shared<HeldRuns>(options.held_bytes);
  if (coder_.swaps()) stores_ = std::make_shared<swap::Stores>();
  if (coder_.expands_segments()) swap::ask_for_expandable_segments();
}

std::shared_ptr<const codecs::Encoded> Compression::held(
    std::shared_ptr<const codecs::Encoded> run) const {
  return held_ ? holding(std::move(run), held_) : run;
}

std::shared_ptr<swap::HostSwap> Compression::new_swap() const {
  const std::lock_guard lock(mutex_);
  if (!stores_) return nullptr;
  return std::make_shared<swap::HostSwap>(
      [stores = stores_](c10::Device device) { return stores->of(device); });
}

void Compression::set_rule(const std::string& pattern, Bits bits) {
  check_bits("a rule's bits", bits.count);
  add({standard_pattern(pattern), bits.count, {}});
}

void Compression::set_rule(const std::string& pattern, Way way) {
  add({standard_pattern(pattern), {}, way});
}

void Compression::add(Rule rule) {
  const std::lock_guard lock(mutex_);
  if (rule.way == Way::away && !stores_) stores_ = std::make_shared<swap::Stores>();
  rules_.push_back(std::move(rule));
  for (Place& place : places_) place.fixed.reset();  // as the rules are now, once it is met again
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
                                 const Saving& saving) const {
  if (is_in_backward() || !is_plain(tensor)) return {};
  const std::lock_guard lock(mutex_);
  const Rule* rule = rule_of(names_of(saving.facts.operation), saving.parameters);
  if (rule != nullptr && rule->leaves_alone()) return {};
  SaveDecision decision{treatment_of(tensor, saving)};
  if (!coder_.codes(decision)) decision = {};
  if (rule != nullptr) apply(*rule, tensor, saving, decision);
  if (const auto assigned = assignment_of(site)) decision.planned = assigned->keep;
  const auto number = numbers_.find(site);
  const Place* place = number == numbers_.end() ? nullptr : &places_[number->second];
  decision.is_observed = observer_ != nullptr;
  decision.is_due = !decision.is_observed && (place == nullptr || measures(place->site.count));
  decision.is_better_derived = place != nullptr && place->is_derived;
  decision.may_normalize =
      place == nullptr || decision.is_due || place->kind == CodecKind::normalized;
  return decision;
}

void Compression::apply(const Rule& rule, const at::Tensor& tensor, const Saving& saving,
                        SaveDecision& decision) {
  const std::string& operation = saving.facts.operation;
  // What an activation keeps is read where its derivative falls to 0: a table or nothing. What a
  // quotient keeps it divides by: a pattern for many operations does not mean that.
  const bool is_wide = rule.pattern.find('*') != std::string::npos;
  const bool stays = (rule.bits && is_activation(operation)) || (is_wide && is_division(operation));
  if (decision.way == Way::exact && !stays && may_take_bits(tensor, saving)) {
    decision = {{Way::rotated, 1.0}};
  }
  if (decision.takes_bits() && rule.way) decision.way = *rule.way;
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

std::string Compression::name_at(const Place& place) const {
  if (!place.derivation.empty()) return "derived: " + place.derivation;
  if (place.treatment.way == Way::codes) return std::string(kTable);
  if (place.treatment.way == Way::exact) return "exact";
  const codecs::CodecPointer exact = exact_codec(place.treatment.way);
  return (exact ? exact : coder_.codec(place.kind, place.coded_bits))->name();
}

codecs::CodecPointer Compression::codec_at(const SiteKey& key, const Subject& subject,
                                           const SaveDecision& decision) {
  if (decision.way == Way::integers) return codec_of_places(subject.saving);
  if (auto exact = exact_codec(decision.way)) return exact;
  const std::vector<CodecKind> kinds = coder_.kinds(decision, subject);
  const std::lock_guard lock(mutex_);
  const auto number = numbers_.find(key);
  if (number == numbers_.end() || !places_[number->second].treatment.takes_bits()) {
    return coder_.codec(kinds.front(), first_bits(key, decision), &subject);
  }
  Place& place = places_[number->second];
  // What its elements are like may not be known this time.
  const bool is_possible = std::ranges::find(kinds, place.kind) != kinds.end();
  const CodecKind kind = is_possible ? place.kind : kinds.front();
  // Until bits are split again.
  if (const auto given = given_bits(key, decision)) {
    place.bits = std::max(*given, place.fixed.value_or(0));
  }
  return coder_.codec(kind, place.bits, &subject);
}

/// What is kept there serves this operation too.
void Compression::claim(Place& place, const SaveDecision& decision) {
  const double weight = std::max(place.treatment.weight, decision.weight);
  const std::optional<int> fixed = std::max(place.fixed, given_bits(key_of(place.site), decision));
  has_changed_ |= weight > place.treatment.weight || fixed != place.fixed;
  place.treatment.weight = weight;
  place.fixed = fixed;
}

/// Nothing is known of a place that is kept in another way than before.
void Compression::start(Place& place, const Subject& subject, const SaveDecision& decision) {
  const bool takes_bits = decision.takes_bits();
  place.treatment = decision;
  place.bits = takes_bits ? first_bits(key_of(place.site), decision) : 0;
  if (takes_bits) place.kind = coder_.kinds(decision, subject).front();
  place.other_bits = 0.0;
  place.errors.clear();
  place.sensitivity = 0.0;
  place.root.reset();
  place.is_derived = false;
  has_changed_ = true;
}

void Compression::note(const SiteKey& key, const Subject& subject, const SaveDecision& decision,
                       const Latest& latest) {
  const std::lock_guard lock(mutex_);
  const auto [number, is_new] = numbers_.try_emplace(key, places_.size());
  if (is_new) {
    const auto& [operation, argument, call] = key;
    Place place;
    place.site.operation = operation;
    place.site.argument = argument;
    place.site.call = call;
    places_.push_back(std::move(place));
  }
  Place& place = places_[number->second];
  if (place.treatment.way != decision.way) start(place, subject, decision);
  if (decision.takes_bits()) claim(place, decision);
  place.coded_bits = place.bits;
  const bool is_derived = !latest.derivation.empty();
  has_changed_ |= is_derived != place.is_derived;
  if (place.is_derived && !is_derived) place.root.reset();  // what it came of was not there
  place.is_derived = is_derived;
  place.is_asked_for = latest.is_asked_for;
  place.derivation = latest.derivation;
  Compressor::Site& site = place.site;
  site.codec = is_derived ? name_at(place) : latest.codec;
  const auto& parameters = subject.saving.parameters;
  const bool is_activation = decision.way == Way::codes;
  site.module = is_activation ? module_around(parameters) : module_of(parameters);
  ++site.count;
  has_changed_ |= options().bytes > 0 && latest.elements > place.most_elements;
  site.elements = latest.elements;
  place.most_elements = std::max(place.most_elements, latest.elements);
  site.bytes_before = latest.bytes_before;
  site.bytes_after = latest.bytes_after;
  site.bytes_away = latest.bytes_away;
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

void Compression::note_kept(const SiteKey& key, std::string codec, int64_t bytes, int64_t away) {
  const std::lock_guard lock(mutex_);
  const auto number = numbers_.find(key);
  if (number == numbers_.end()) return;
  Compressor::Site& site = places_[number->second].site;
  site.codec = std::move(codec);
  site.bytes_after = bytes;
  site.bytes_away = away;
}

bool Compression::measures(int64_t count) {
  return count >= kMeasured ? count % kMeasured == 0 : (count & (count - 1)) == 0;
}

/// What its gradient is linear in: of a norm what that makes of it.
double Compression::error_in(const Subject& subject, const Treatment& treatment,
                             const at::Tensor& run, const at::Tensor& decoded) {
  if (!subject.statistics) return error_of(run, decoded, treatment.is_norm);
  const at::Tensor back = decoded.as_strided(run.sizes(), run.strides());
  const at::Tensor again = codecs::normalized(back, *subject.statistics);
  return error_of(codecs::normalized(run, *subject.statistics),
                  again.as_strided({again.numel()}, {1}), treatment.is_norm);
}

/// The codec that errs least there in so many bits, and its errors.
Compression::Measured Compression::least_error(const Subject& subject, const Treatment& treatment,
                                               int bits, const at::Tensor& run,
                                               const codecs::RandomStream& random,
                                               const std::optional<CodedRun>& coded) const {
  constexpr double kWorthAPass = 0.8;  // of the error without
  std::optional<Measured> least;
  at::Tensor best;
  for (const CodecKind kind : coder_.kinds(treatment, subject)) {
    const codecs::CodecPointer codec = coder_.codec(kind, bits, &subject);
    const bool is_known = coded && coded->codec == codec->name();
    const at::Tensor decoded =
        is_known ? coded->run.decoded() : codec->encode(run, random)->decoded();
    const double error = error_in(subject, treatment, run, decoded);
    const double needed = kind == CodecKind::normalized ? kWorthAPass : 1.0;
    if (least && !(error < needed * least->error)) continue;
    least = {kind, error, 0.0};
    best = decoded;
  }
  least->median_error = median_error_of(run, best, treatment.is_norm);
  return *least;
}

void Compression::measure(const SiteKey& key, const Subject& subject, const Treatment& treatment,
                          const at::Tensor& run, const std::optional<CodedRun>& coded,
                          const codecs::RandomStream& random) {
  const bool is_fixed = is_cast(treatment.way);
  if (!treatment.takes_bits() && !is_fixed) return;
  int bits = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto number = numbers_.find(key);
    if (number == numbers_.end()) return;  // others were loaded meanwhile
    bits = places_[number->second].bits;
  }
  const auto errors_of = [&](const at::Tensor& decoded) {
    return Measured{CodecKind::rotated, error_in(subject, treatment, run, decoded),
                    median_error_of(run, decoded, treatment.is_norm)};
  };
  Measured least = is_fixed ? errors_of(coded->run.decoded())
                            : least_error(subject, treatment, bits, run, random, coded);
  if (!is_fixed && least.error == 0.0 && bits > 1) {
    bits = 1;  // all that a short type tells is held: that says nothing of fewer
    least = least_error(subject, treatment, bits, run, random, {});
  }
  const double error = least.error;
  if (!std::isfinite(error)) return;  // of a tensor that is not: nothing to split bits by
  const std::lock_guard lock(mutex_);
  const auto number = numbers_.find(key);
  if (number == numbers_.end()) return;
  Place& place = places_[number->second];
  place.kind = least.kind;
  place.median_share = error > 0.0 ? least.median_error / error : 0.0;
  const auto expected = [this, least = place.kind](int b) {
    return coder_.expected_error(least, b);
  };
  place.errors =
      is_fixed ? std::vector<double>(kMostBits, error) : errors_by_bits(error, bits, expected);
  has_changed_ = true;
}

void Compression::raise(const SiteKey& key, const SaveDecision& decision) {
  const std::lock_guard lock(mutex_);
  const auto number = numbers_.find(key);
  if (number == numbers_.end()) return;
  claim(places_[number->second], decision);
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
  for (Place& place : places_) note_other_bits(place);
  if (!has_changed_) return;
  has_changed_ = false;
  choose_derived();
  if (!coder_.splits_bits()) return;
  const std::vector<Demand> demands = this->demands();
  const Averages average = averages(demands);
  for (Place& place : places_) {
    if (follows_bits(place)) place.bits = bits_beside(place, average.of_activations);
  }
  const std::vector<int> bits = split_bits(demands, average.of_others).bits;
  size_t next = 0;
  for (Place& place : places_) {
    if (takes_budget(place)) place.bits = bits[next++];
  }
}

std::optional<double> Compression::split_gap() const {
  if (!coder_.splits_bits()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (!coder_.splits_bits()) return std::nullopt;
  const std::vector<Demand> demands = this->demands();
  double loss = 0.0;
  size_t next = 0;
  for (const Place& place : places_) {
    if (!takes_budget(place)) continue;
    const Demand& demand = demands[next++];
    loss += demand.elements * demand.weight * demand.error[static_cast<size_t>(place.bits) - 1];
  }
  const double bound = split_bits(demands, averages(demands).of_others).bound;
  if (bound <= 0.0) return std::nullopt;
  return std::max(loss / bound - 1.0, 0.0);
}

std::vector<Compressor::Site> Compression::sites() const {
  const std::lock_guard lock(mutex_);
  std::vector<Compressor::Site> sites;
  for (const Place& place : places_) {
    Compressor::Site& site = sites.emplace_back(place.site);
    const auto origin = place.is_derived ? origin_of(place) : std::nullopt;
    const Place& coded = origin ? places_[origin->root] : place;
    if (coded.errors.empty()) continue;
    const double error = coded.errors[static_cast<size_t>(std::max(coded.coded_bits, 1)) - 1];
    site.error = origin ? derived_error(*origin, coded, coded.coded_bits) : error;
    site.median_error = coded.median_share * site.error;
  }
  return sites;
}

}  // namespace fewbit::session

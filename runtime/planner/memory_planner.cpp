#include "planner/memory_planner.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <ATen/ops/empty.h>

#include "compression/coder.hpp"
#include "compression/recompute/derivation_rules.hpp"
#include "fewbit/saved_bytes.hpp"
#include "planner/memory_blocks.hpp"
#include "planner/memory_choice.hpp"

namespace fewbit::session {

namespace {

/// Forwards until bits are split, and then those that are timed.
constexpr int kSettling = 2;
constexpr int kTimed = 3;

/// So often what errs too much is taken out; then nothing is rebuilt.
constexpr int kMostRejections = 6;

/// A rebuilt tensor may err so much more than a coded one: errors are measured on one draw.
constexpr double kMoreError = 1.05;

/// Place by place.
void keep_least(Survey::Times& least, Survey::Times next) {
  for (auto& [site, seconds] : least.seconds) {
    const auto again = next.seconds.find(site);
    if (again != next.seconds.end()) seconds = std::min(seconds, again->second);
  }
  least.step = std::min(least.step, next.step);
  if (next.forward >= least.forward) return;
  least.forward = next.forward;
  least.moments = std::move(next.moments);
}

double step_seconds(const MemoryPlanner::Forward& forward) {
  double least = Survey::step_seconds(forward);
  for (int i = 1; i < kTimed; ++i) least = std::min(least, Survey::step_seconds(forward));
  return least;
}

/// Of bits that could be other ones: neither a mask nor what an activation keeps.
bool has_codec(const MemoryPlan::Place& place) {
  return place.bits > 0 && place.site.operation != kActivation;
}

}  // namespace

MemoryPlanner::MemoryPlanner(Forward forward, const CompressorOptions& options)
    : forward_(std::move(forward)), options_(options) {
  options_.bytes = 0;  // bits are those of the options
}

int64_t MemoryPlanner::kept_bytes(const Forward& forward) {
  SavedBytes meter;
  const auto watch = meter.watch();
  const at::Tensor result = forward();
  return meter.unique_bytes();
}

void MemoryPlanner::run(Trial& trial) const {
  const Forward in_scope = [&] {
    const CompressionScope scope(trial.compressor);
    return forward_();
  };
  for (int i = 1; i < kSettling; ++i) in_scope();
  trial.bytes = kept_bytes(in_scope);
  Compression& compression = *trial.compressor.compression_;
  trial.times = Survey::of(trial.compressor, compression, forward_);
  for (int i = 1; i < kTimed; ++i) {
    keep_least(trial.times, Survey::of(trial.compressor, compression, forward_));
  }
  trial.places = compression.places();
}

void MemoryPlanner::survey_coded(const Parameters& parameters) {
  Trial trial{Compressor(options_)};
  trial.compressor.name(parameters);
  for (const std::string_view name : derivations()) {
    trial.compressor.derive(std::string(name), Derive::never);
  }
  run(trial);
  plan_.other_bytes = trial.bytes;
  coded_step_ = trial.times.step;
  for (const Compression::PlaceFacts& facts : trial.places) {
    const Compressor::Site& site = facts.site;
    numbers_.emplace(key_of(site), plan_.places.size());
    MemoryPlan::Place& place = plan_.places.emplace_back();
    place.site = site;
    place.bits = facts.bits;
    place.choices = {{Keep::coded, site.bytes_after, trial.times.seconds[key_of(site)]}};
    plan_.other_bytes -= site.bytes_after;
  }
  roots_.resize(plan_.places.size());
}

/// What each rebuilt place takes for what it is rebuilt with, such as a norm's means.
int64_t MemoryPlanner::beside_places(const Trial& trial) const {
  int64_t bytes = trial.bytes - plan_.other_bytes, rebuilt = 0;
  for (const Compression::PlaceFacts& facts : trial.places) {
    bytes -= facts.site.bytes_after;
    rebuilt += facts.root ? 1 : 0;
  }
  return rebuilt > 0 ? std::max(bytes, int64_t{0}) / rebuilt : 0;
}

void MemoryPlanner::survey(Keep keep) {
  for (int i = 0; i < kMostRejections && !add_choices(keep); ++i) {
  }
  rejected_.clear();
}

/// False: some places err too much. Without them others are rebuilt in other ways.
bool MemoryPlanner::add_choices(Keep keep) {
  Trial trial{Compressor(options_)};
  Compression& compression = *trial.compressor.compression_;
  for (const MemoryPlan::Place& place : plan_.places) {
    const SiteKey site = key_of(place.site);
    const bool is_possible = keep == Keep::exact || (has_codec(place) && !rejected_.contains(site));
    compression.assign(site, {is_possible ? keep : Keep::coded, place.bits});
  }
  run(trial);
  const size_t rejected = rejected_.size();
  for (const Compression::PlaceFacts& facts : trial.places) {
    const auto number = numbers_.find(key_of(facts.site));
    if (!facts.root || number == numbers_.end()) continue;
    const double coded = plan_.places[number->second].site.error;
    if (facts.site.error > kMoreError * coded) rejected_.insert(number->first);
  }
  if (rejected_.size() > rejected) return false;
  const int64_t beside = beside_places(trial);
  for (const Compression::PlaceFacts& facts : trial.places) {
    const auto number = numbers_.find(key_of(facts.site));
    if (number == numbers_.end()) continue;
    MemoryPlan::Place& place = plan_.places[number->second];
    if (keep != Keep::exact && !has_codec(place)) continue;
    if (keep == Keep::rebuilt) {
      if (!facts.root || !numbers_.contains(*facts.root)) continue;
      roots_[number->second] = numbers_.at(*facts.root);
    }
    const int64_t bytes = facts.site.bytes_after + (facts.root ? beside : 0);
    const double seconds = keep == Keep::exact ? 0.0 : trial.times.seconds[number->first];
    place.choices.push_back({keep, bytes, seconds});
  }
  if (keep == Keep::exact) {
    exact_ = std::move(trial.times);
    share_memory();
  } else {
    count_from_exact(keep, trial.times.step);
  }
  return true;
}

/// No clock sees the least: exact is never slower.
double MemoryPlanner::beyond_exact(const MemoryPlan::Place& place, double seconds) const {
  constexpr double kLeast = 1e-9;
  const auto exact = exact_.seconds.find(key_of(place.site));
  return std::max(seconds - (exact == exact_.seconds.end() ? 0.0 : exact->second), kLeast);
}

/// Seconds of such choices are those beyond keeping exact. What a step takes beyond what its places
/// were seen to, as a thread that writes what is swapped takes from the others, is spread over
/// places by their bytes.
void MemoryPlanner::count_from_exact(Keep keep, double step) {
  double bytes = 0.0;
  for (const MemoryPlan::Place& place : plan_.places) {
    bytes += static_cast<double>(place.site.bytes_before);
  }
  const double unseen = std::max(step - exact_.step, 0.0) / std::max(bytes, 1.0);
  for (MemoryPlan::Place& place : plan_.places) {
    const auto choice = std::ranges::find(place.choices, keep, &MemoryPlan::Choice::keep);
    if (choice == place.choices.end()) continue;
    const double own = unseen * static_cast<double>(place.site.bytes_before);
    choice->seconds = beyond_exact(place, choice->seconds + own);
  }
}

/// An exact view holds all of its memory, together with other places' views, which may show the
/// same.
void MemoryPlanner::share_memory() {
  std::map<SiteKey, Survey::Moment> views;
  for (const Survey::Moment& moment : exact_.moments) views.emplace(moment.site, moment);
  std::map<const void*, int64_t> seen;  // of each memory, by all views
  const auto exact_of = [&](const SiteKey& site) {
    auto& choices = plan_.places[numbers_.at(site)].choices;
    return std::ranges::find(choices, Keep::exact, &MemoryPlan::Choice::keep);
  };
  for (const auto& [site, view] : views) {
    if (numbers_.contains(site)) seen[view.memory] += exact_of(site)->bytes;
  }
  for (const auto& [site, view] : views) {
    if (!numbers_.contains(site) || seen[view.memory] == 0) continue;
    const double times = static_cast<double>(view.bytes) / static_cast<double>(seen[view.memory]);
    const auto exact = exact_of(site);
    exact->bytes = std::llround(times * static_cast<double>(exact->bytes));
  }
}

/// The times of a forward between what modules save.
void MemoryPlanner::propose_checkpoints(double price) {
  std::vector<BlockMoment> moments;
  for (const Survey::Moment& moment : exact_.moments) {
    const auto number = numbers_.find(moment.site);
    if (number == numbers_.end()) continue;
    moments.push_back({number->second, moment.seconds, moment.left_bytes});
  }
  const Coder coder(options_);
  const codecs::CodecPointer codec =
      coder.codec(CodecKind::rotated, coder.first_bits(treatment_of_checkpoint()));
  for (const Block& block : blocks_of(plan_.places, moments, exact_.forward)) {
    const MemoryPlan::Place& input = plan_.places[block.places.front()];
    const at::Tensor run = at::empty({input.site.elements}, at::device(at::kMeta));
    MemoryPlan::Checkpoint checkpoint;
    checkpoint.module = block.module;
    checkpoint.bytes = block.left_bytes - codecs::bytes_ahead(*codec, run).value_or(0);
    checkpoint.seconds = block.seconds + input.choices.front().seconds;
    for (const size_t place : block.places) {
      checkpoint.bytes += plan_.places[place].choice().bytes;
      checkpoint.seconds -= plan_.places[place].choice().seconds;
    }
    if (checkpoint.bytes <= 0) continue;
    checkpoint.is_proposed =
        !plan_.fits() || checkpoint.seconds < price * static_cast<double>(checkpoint.bytes);
    plan_.checkpoints.push_back(std::move(checkpoint));
  }
}

/// Whether what is rebuilt as chosen takes as long as it was thought to: other places' choices are
/// part of that.
bool MemoryPlanner::correct_rebuilt(const Survey::Times& times) {
  constexpr double kSlower = 1.5, kTiny = 1e-4;
  bool is_right = true;
  for (MemoryPlan::Place& place : plan_.places) {
    MemoryPlan::Choice& choice = place.choices[place.chosen];
    const auto measured = times.seconds.find(key_of(place.site));
    if (choice.keep != Keep::rebuilt || measured == times.seconds.end()) continue;
    const double seconds = beyond_exact(place, measured->second);
    if (seconds <= kSlower * choice.seconds + kTiny) continue;
    choice.seconds = seconds;
    is_right = false;
  }
  return is_right;
}

/// Places may share what they need, and memory: so a step that follows is looked at, and what is
/// found there chosen by. Where none fits, of all that were looked at the one of fewest bytes.
double MemoryPlanner::choose_followed() {
  constexpr int kMost = 8;
  double price = 0.0;
  std::optional<MemoryPlan> least;
  for (int i = 0; i < kMost; ++i) {
    price = choose(plan_.places, roots_, plan_.budget - plan_.other_bytes);
    const bool seemed_to_fit = plan_.fits();
    Trial trial{Compressor(options_)};
    trial.compressor.follow(plan_);
    run(trial);
    plan_.other_bytes += trial.bytes - plan_.bytes();
    if (!least || plan_.bytes() < least->bytes()) least = plan_;
    const bool is_right = correct_rebuilt(trial.times);
    if (is_right && (plan_.fits() || !seemed_to_fit)) break;
  }
  if (!plan_.fits() && least->bytes() < plan_.bytes()) plan_ = std::move(*least);
  return price;
}

MemoryPlan MemoryPlanner::plan(int64_t bytes, const Parameters& parameters) {
  plan_.budget = bytes;
  plan_.exact_bytes = kept_bytes(forward_);
  plan_.step_seconds = step_seconds(forward_);
  survey_coded(parameters);
  survey(Keep::exact);
  count_from_exact(Keep::coded, coded_step_);
  for (const Keep keep : {Keep::rebuilt, Keep::swapped}) survey(keep);
  double exact = exact_.step;
  for (const auto& [site, seconds] : exact_.seconds) exact += seconds;
  plan_.other_seconds = std::max(exact - plan_.step_seconds, 0.0);
  propose_checkpoints(choose_followed());
  return std::move(plan_);
}

}  // namespace fewbit::session

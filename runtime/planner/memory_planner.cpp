#include "planner/memory_planner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <ATen/ops/empty.h>

#include "compression/coder.hpp"
#include "compression/operators/recipe.hpp"
#include "planner/memory_blocks.hpp"
#include "planner/memory_choice.hpp"

namespace fewbit::session {

namespace {

/// Steps until bits are split, and then those that are timed.
constexpr int kSettling = 2;
constexpr int kTimed = 3;

/// After so many trials that reject sites for their error nothing is recomputed.
constexpr int kMostRejections = 6;

/// A recomputed tensor's error may be so many times a coded one's: errors are measured on one draw.
constexpr double kMoreError = 1.05;

/// Site by site.
void keep_least(StepProfiler::Times& least, StepProfiler::Times next) {
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
  double least = StepProfiler::step_seconds(forward);
  for (int i = 1; i < kTimed; ++i) least = std::min(least, StepProfiler::step_seconds(forward));
  return least;
}

/// Of bits that could be other ones: neither a mask nor what an activation saves.
bool has_codec(const MemoryPlan::Site& planned) {
  return planned.bits > 0 && planned.site.operation != kActivation;
}

}  // namespace

MemoryPlanner::MemoryPlanner(Forward forward, const CompressorOptions& options)
    : forward_(std::move(forward)), options_(options) {
  options_.bytes = 0;  // bits are those of the options
}

MeasuredStep MemoryPlanner::measured(const Forward& forward) const {
  return measured_step("fewbit::plan_memory", device_, forward);
}

void MemoryPlanner::run(Trial& trial) const {
  const Forward in_scope = [&] {
    const CompressionScope scope(trial.compressor);
    return forward_();
  };
  for (int i = 0; i < kSettling; ++i) trial.step = higher(trial.step, measured(in_scope));
  Compression& compression = *trial.compressor.compression_;
  trial.times = StepProfiler::of(trial.compressor, compression, forward_);
  for (int i = 1; i < kTimed; ++i) {
    keep_least(trial.times, StepProfiler::of(trial.compressor, compression, forward_));
  }
  trial.sites = compression.site_facts();
}

void MemoryPlanner::survey_coded(const Parameters& parameters) {
  Trial trial{Compressor(options_)};
  trial.compressor.name(parameters);
  for (const std::string_view name : recompute_kinds()) {
    if (name == kCast) continue;  // of no site
    trial.compressor.recompute(std::string(name), Recompute::never);
  }
  run(trial);
  plan_.other_bytes = trial.step.kept;
  coded_step_ = trial.times.step;
  for (const Compression::SiteFacts& facts : trial.sites) {
    const Compressor::Site& site = facts.site;
    numbers_.emplace(key_of(site), plan_.sites.size());
    MemoryPlan::Site& planned = plan_.sites.emplace_back();
    planned.site = site;
    planned.bits = facts.bits;
    planned.choices = {{Storage::coded, site.bytes_after, trial.times.seconds[key_of(site)]}};
    plan_.other_bytes -= site.bytes_after;
  }
  roots_.resize(plan_.sites.size());
}

/// What each recomputed site takes for what it is recomputed with, such as a norm's means.
int64_t MemoryPlanner::beside_sites(const Trial& trial) const {
  int64_t bytes = trial.step.kept - plan_.other_bytes, recomputed = 0;
  for (const Compression::SiteFacts& facts : trial.sites) {
    bytes -= facts.site.bytes_after;
    recomputed += facts.root ? 1 : 0;
  }
  return recomputed > 0 ? std::max(bytes, int64_t{0}) / recomputed : 0;
}

void MemoryPlanner::measure(Storage storage) {
  for (int i = 0; i < kMostRejections && !add_choices(storage); ++i) {
  }
  rejected_.clear();
}

/// False: the errors of some sites are too large. Without them others are recomputed in other ways.
bool MemoryPlanner::add_choices(Storage storage) {
  Trial trial{Compressor(options_)};
  std::map<SiteKey, UserRules::Assignment> sites;
  for (const MemoryPlan::Site& planned : plan_.sites) {
    const SiteKey site = key_of(planned.site);
    const bool is_possible =
        storage == Storage::exact || (has_codec(planned) && !rejected_.contains(site));
    sites[site] = {is_possible ? storage : Storage::coded, planned.bits};
  }
  trial.compressor.compression_->assign(sites);
  run(trial);
  const size_t rejected = rejected_.size();
  for (const Compression::SiteFacts& facts : trial.sites) {
    const auto number = numbers_.find(key_of(facts.site));
    if (!facts.root || number == numbers_.end()) continue;
    const double coded = plan_.sites[number->second].site.error;
    if (facts.site.error > kMoreError * coded) rejected_.insert(number->first);
  }
  if (rejected_.size() > rejected) return false;
  const int64_t beside = beside_sites(trial);
  for (const Compression::SiteFacts& facts : trial.sites) {
    const auto number = numbers_.find(key_of(facts.site));
    if (number == numbers_.end()) continue;
    MemoryPlan::Site& planned = plan_.sites[number->second];
    if (storage != Storage::exact && !has_codec(planned)) continue;
    if (storage == Storage::recomputed) {
      if (!facts.root || !numbers_.contains(*facts.root)) continue;
      roots_[number->second] = numbers_.at(*facts.root);
    }
    const int64_t bytes = facts.site.bytes_after + (facts.root ? beside : 0);
    const double seconds = storage == Storage::exact ? 0.0 : trial.times.seconds[number->first];
    planned.choices.push_back({storage, bytes, seconds});
  }
  if (storage == Storage::exact) {
    exact_ = std::move(trial.times);
    share_memory();
  } else {
    count_from_exact(storage, trial.times.step);
  }
  return true;
}

/// No clock sees the least: exact is never slower.
double MemoryPlanner::beyond_exact(const MemoryPlan::Site& planned, double seconds) const {
  constexpr double kLeast = 1e-9;
  const auto exact = exact_.seconds.find(key_of(planned.site));
  return std::max(seconds - (exact == exact_.seconds.end() ? 0.0 : exact->second), kLeast);
}

/// Seconds of such choices are those beyond keeping exact. What a step takes beyond what its sites
/// were seen to, as a thread that writes what is offloaded takes from the others, is spread over
/// sites by their bytes.
void MemoryPlanner::count_from_exact(Storage storage, double step) {
  double bytes = 0.0;
  for (const MemoryPlan::Site& planned : plan_.sites) {
    bytes += static_cast<double>(planned.site.bytes_before);
  }
  const double unseen = std::max(step - exact_.step, 0.0) / std::max(bytes, 1.0);
  for (MemoryPlan::Site& planned : plan_.sites) {
    const auto choice = std::ranges::find(planned.choices, storage, &MemoryPlan::Choice::storage);
    if (choice == planned.choices.end()) continue;
    const double own = unseen * static_cast<double>(planned.site.bytes_before);
    choice->seconds = beyond_exact(planned, choice->seconds + own);
  }
}

/// An exact view holds all of its memory, together with other sites' views, which may show the
/// same.
void MemoryPlanner::share_memory() {
  std::map<SiteKey, StepProfiler::Moment> views;
  for (const StepProfiler::Moment& moment : exact_.moments) views.emplace(moment.site, moment);
  std::map<const void*, int64_t> seen;  // of each memory, by all views
  const auto exact_of = [&](const SiteKey& site) {
    auto& choices = plan_.sites[numbers_.at(site)].choices;
    return std::ranges::find(choices, Storage::exact, &MemoryPlan::Choice::storage);
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
  for (const StepProfiler::Moment& moment : exact_.moments) {
    const auto number = numbers_.find(moment.site);
    if (number == numbers_.end()) continue;
    moments.push_back({number->second, moment.seconds, moment.left_bytes});
  }
  const Coder coder(options_);
  const codecs::CodecPointer codec =
      coder.codec(CodecKind::rotated, coder.first_bits(save_policy_of_checkpoint()));
  for (const Block& block : blocks_of(plan_.sites, moments, exact_.forward)) {
    const MemoryPlan::Site& input = plan_.sites[block.sites.front()];
    const at::Tensor run = at::empty({input.site.elements}, at::device(at::kMeta));
    MemoryPlan::Checkpoint checkpoint;
    checkpoint.module = block.module;
    checkpoint.bytes = block.left_bytes - codecs::bytes_ahead(*codec, run).value_or(0);
    checkpoint.seconds = block.seconds + input.choices.front().seconds;
    for (const size_t site : block.sites) {
      checkpoint.bytes += plan_.sites[site].choice().bytes;
      checkpoint.seconds -= plan_.sites[site].choice().seconds;
    }
    if (checkpoint.bytes <= 0) continue;
    checkpoint.is_proposed =
        !plan_.fits() || checkpoint.seconds < price * static_cast<double>(checkpoint.bytes);
    plan_.checkpoints.push_back(std::move(checkpoint));
  }
}

/// Whether what is recomputed as chosen takes as long as it was thought to: other sites' choices
/// are part of that.
bool MemoryPlanner::correct_recomputed(const StepProfiler::Times& times) {
  constexpr double kSlower = 1.5, kTiny = 1e-4;
  bool is_right = true;
  for (MemoryPlan::Site& planned : plan_.sites) {
    MemoryPlan::Choice& choice = planned.choices[planned.chosen];
    const auto measured = times.seconds.find(key_of(planned.site));
    if (choice.storage != Storage::recomputed || measured == times.seconds.end()) continue;
    const double seconds = beyond_exact(planned, measured->second);
    if (seconds <= kSlower * choice.seconds + kTiny) continue;
    choice.seconds = seconds;
    is_right = false;
  }
  return is_right;
}

/// Places may share what they need, and memory: so a step that follows is looked at, and what is
/// found there chosen by. Where none fits, of all that were looked at the one of fewest bytes.
double MemoryPlanner::choose_kept(int64_t bytes) {
  constexpr int kMost = 8;
  double price = 0.0;
  std::optional<MemoryPlan> least;
  for (int i = 0; i < kMost; ++i) {
    price = choose(plan_.sites, roots_, bytes - plan_.other_bytes);
    const bool seemed_to_fit = plan_.bytes() <= bytes;
    Trial trial{Compressor(options_)};
    trial.compressor.follow(plan_);
    run(trial);
    plan_.other_bytes += trial.step.kept - plan_.bytes();
    plan_.forward_peak = trial.step.forward_peak;
    plan_.step_peak = trial.step.peak;
    if (!least || plan_.bytes() < least->bytes()) least = plan_;
    const bool is_right = correct_recomputed(trial.times);
    if (is_right && (plan_.bytes() <= bytes || !seemed_to_fit)) break;
  }
  if (plan_.bytes() > bytes && least->bytes() < plan_.bytes()) plan_ = std::move(*least);
  return price;
}

/// More kept bytes take less time and a higher peak: those are searched whose peak stays just below
/// the budget's. Lower still may be that of all sites coded, since what is offloaded or recomputed
/// passes through memory as a whole.
double MemoryPlanner::choose_within_budget() {
  const int64_t most = plan_.budget.kept_bytes.value_or(std::numeric_limits<int64_t>::max() / 2);
  double price = choose_kept(most);
  const int64_t peak = plan_.budget.peak_bytes.value_or(plan_.step_peak);
  if (plan_.step_peak <= peak) return price;
  const MemoryPlan above = plan_;
  price = choose_kept(0);
  if (plan_.step_peak <= peak) return search_peak(price, above);
  MemoryPlan lowest = plan_;
  for (MemoryPlan::Site& site : plan_.sites) {
    std::erase_if(site.choices, [](const MemoryPlan::Choice& choice) {
      return choice.storage == Storage::offloaded || choice.storage == Storage::recomputed;
    });
  }
  std::ranges::fill(roots_, std::nullopt);
  price = choose_kept(0);
  if (plan_.step_peak <= peak) return search_peak(price, above);
  if (lowest.step_peak < plan_.step_peak) plan_ = std::move(lowest);
  return price;
}

/// Between the plan, whose peak is within the budget, and one whose peak is above it.
double MemoryPlanner::search_peak(double price, MemoryPlan above) {
  constexpr int kMost = 8;
  constexpr double kNear = 0.02, kEdge = 0.1;
  const int64_t peak = *plan_.budget.peak_bytes;
  MemoryPlan below = plan_;
  for (int i = 0; i < kMost; ++i) {
    const auto width = static_cast<double>(above.bytes() - below.bytes());
    const double share = static_cast<double>(peak - below.step_peak) /
                         static_cast<double>(above.step_peak - below.step_peak);
    const double step = width * std::clamp(share, kEdge, 1.0 - kEdge);
    if (step < kNear * static_cast<double>(plan_.exact_bytes) ||
        static_cast<double>(peak - below.step_peak) < kNear * static_cast<double>(peak)) {
      break;
    }
    const double next = choose_kept(below.bytes() + std::llround(step));
    const bool is_below = plan_.step_peak <= peak;
    (is_below ? below : above) = plan_;
    if (is_below) price = next;
  }
  plan_ = std::move(below);
  return price;
}

MemoryPlan MemoryPlanner::plan(const MemoryBudget& budget, const Parameters& parameters) {
  plan_.budget = budget;
  device_ = home_of(forward_());
  const MeasuredStep exact_step = measured(forward_);
  plan_.exact_bytes = exact_step.kept;
  plan_.exact_peak = exact_step.peak;
  plan_.step_seconds = step_seconds(forward_);
  survey_coded(parameters);
  measure(Storage::exact);
  count_from_exact(Storage::coded, coded_step_);
  for (const Storage storage : {Storage::recomputed, Storage::offloaded}) measure(storage);
  double exact = exact_.step;
  for (const auto& [site, seconds] : exact_.seconds) exact += seconds;
  plan_.other_seconds = std::max(exact - plan_.step_seconds, 0.0);
  propose_checkpoints(choose_within_budget());
  return std::move(plan_);
}

}  // namespace fewbit::session

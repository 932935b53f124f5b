// What is not coded since it comes of others' codes, and what that is worth to these.
#include <algorithm>
#include <array>
#include <cmath>

#include <c10/util/Exception.h>

#include "compression/allocation/error.hpp"
#include "compression/compression.hpp"
#include "compression/recompute/recipes.hpp"

namespace fewbit::session {

namespace {

/// Of a tensor: a seed, and two floats for each of the classes of its elements.
constexpr double kConstantBits = 64.0 + 16 * 64.0;

/// Of a group: a mean and a factor, or a minimum and a range.
constexpr double kGroupBits = 32.0;

/// Of so many bits, between whole ones too: errors fall by a constant factor a bit.
double error_at(const std::vector<double>& errors, double bits) {
  const double last = static_cast<double>(errors.size());
  const double state = std::clamp(bits, 1.0, last) - 1.0;
  const auto below = static_cast<size_t>(state);
  const size_t above = std::min(below + 1, errors.size() - 1);
  const double share = state - std::floor(state);
  return std::pow(errors[below], 1.0 - share) * std::pow(errors[above], share);
}

/// Those that cost little time, and in a scheme of others what it is made of.
Recompute at_first(std::string_view name, Scheme scheme) {
  constexpr std::array<std::string_view, 5> kCheap = {"copy", "norm", "relu", "dropout", "sum"};
  const bool is_cheap = std::ranges::find(kCheap, name) != kCheap.end();
  if (name == kSign) return scheme == Scheme::blpa ? Recompute::always : Recompute::never;
  if (scheme == Scheme::blpa && is_cheap && name != "sum") return Recompute::always;
  return is_cheap && scheme == Scheme::rotated ? Recompute::where_better : Recompute::never;
}

}  // namespace

void Compression::set_recompute(const std::string& name, Recompute when) {
  std::string known = "*";
  for (const std::string_view one : recompute_kinds()) known += ", " + std::string(one);
  const bool is_all = name == "*";
  TORCH_CHECK(is_all || std::ranges::find(recompute_kinds(), name) != recompute_kinds().end(),
              "fewbit::Compressor::recompute: '", name,
              "' is no kind of recomputation, accepted: ", known);
  const std::lock_guard lock(mutex_);
  for (const std::string_view one : recompute_kinds()) {
    if (is_all || one == name) tracker_[std::string(one)] = when;
  }
  has_changed_ = true;
}

bool Compression::knows(const at::Tensor& tensor) const {
  const void* address = memory_of(tensor).address();
  const std::lock_guard lock(mutex_);
  return parameters_.contains(address);
}

Recompute Compression::when_to_recompute(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto known = tracker_.find(name);
  const bool is_never = known != tracker_.end() && known->second == Recompute::never;
  // Which sites take one is given.
  const bool is_planned = !assignments_.empty() && name != "softmax" && name != kSign;
  if (is_planned && !is_never) return Recompute::where_better;
  return known == tracker_.end() ? at_first(name, options().scheme) : known->second;
}

void Compression::measure_recomputed(const SiteKey& key, const SavePolicy& save_policy,
                                     const at::Tensor& run, const at::Tensor& recomputed,
                                     const SiteKey& root) {
  const double error = error_of(run, recomputed, save_policy.is_norm);
  const std::lock_guard lock(mutex_);
  const auto number = numbers_.find(key), root_number = numbers_.find(root);
  if (number == numbers_.end() || root_number == numbers_.end()) return;
  SiteState& state = states_[number->second];
  const SiteState& source = states_[root_number->second];
  if (source.errors.empty() || source.coded_bits < 1) return;
  const double of_root = source.errors[static_cast<size_t>(source.coded_bits) - 1];
  if (state.root != root) state.floor_bits = 0;
  state.root = root;
  state.ratio = error == 0.0 ? 0.0 : error / of_root;
  if (source.coded_bits >= state.floor_bits) {
    state.floor_bits = source.coded_bits;
    state.floor = error;
  }
  has_changed_ = true;
}

std::optional<Compression::Origin> Compression::origin_of(const SiteState& state) const {
  double ratio = 1.0;
  const SiteState* at = &state;
  for (size_t step = 0; step < states_.size(); ++step) {
    if (!at->root) return std::nullopt;
    const auto root = numbers_.find(*at->root);
    if (root == numbers_.end()) return std::nullopt;
    ratio *= at->ratio;
    at = &states_[root->second];
    if (at->is_recomputed) continue;
    const bool is_direct = step == 0;
    return Origin{root->second, ratio, is_direct ? state.floor : 0.0,
                  is_direct ? state.floor_bits : 0};
  }
  return std::nullopt;  // a circle, out of a file
}

/// It falls with the root's, but for what the root's bits have no part in.
double Compression::recomputed_error(const Origin& origin, const SiteState& root, double bits) {
  const double error = origin.ratio * error_at(root.errors, bits);
  return bits <= origin.floor_bits ? std::max(error, origin.floor) : error;
}

/// Its bits at the root are worth more than at itself, beside what both weigh.
bool Compression::is_better_recomputed(const SiteState& state) const {
  const std::optional<Origin> origin = origin_of(state);
  if (!origin || state.fixed || state.errors.empty()) return false;
  const SiteState& root = states_[origin->root];
  if (&root == &state || root.errors.empty() || !root.save_policy.takes_bits()) return false;
  if (!std::isfinite(origin->ratio)) return false;
  const double own = static_cast<double>(state.site.elements) * state.save_policy.weight;
  const double roots = static_cast<double>(root.site.elements) * root.save_policy.weight;
  const double bits = options().bits;
  const double share =
      static_cast<double>(state.site.elements) / static_cast<double>(root.site.elements);
  const double coded = roots * error_at(root.errors, bits) + own * error_at(state.errors, bits);
  const double all = std::min(bits * (1.0 + share), static_cast<double>(root.errors.size()));
  return roots * error_at(root.errors, all) + own * recomputed_error(*origin, root, all) <= coded;
}

void Compression::choose_derived() {
  for (SiteState& state : states_) {
    if (!state.save_policy.takes_bits() || assignment_of(key_of(state.site))) continue;
    state.is_recomputed = (state.is_asked_for && !state.fixed) || is_better_recomputed(state);
  }
}

bool Compression::takes_budget(const SiteState& state) {
  return state.save_policy.takes_bits() && !state.is_recomputed && !state.errors.empty();
}

void Compression::note_sensitivity(const SiteKey& key, double sensitivity) {
  if (!std::isfinite(sensitivity)) return;
  const std::lock_guard lock(mutex_);
  const auto number = numbers_.find(key);
  if (number == numbers_.end()) return;
  states_[number->second].sensitivity = sensitivity;
  has_changed_ = true;
}

/// The mean of those that are known; 0: none is.
double Compression::typical_sensitivity() const {
  double sum = 0.0, elements = 0.0;
  for (const SiteState& state : states_) {
    if (state.sensitivity == 0.0) continue;
    sum += static_cast<double>(state.site.elements) * state.sensitivity;
    elements += static_cast<double>(state.site.elements);
  }
  return elements == 0.0 ? 0.0 : sum / elements;
}

/// Of a squared error over the tensor's energy, an element.
double Compression::weight_of(const SiteState& state, double typical) const {
  if (typical == 0.0) return state.save_policy.weight;
  return state.sensitivity == 0.0 ? typical * state.save_policy.weight : state.sensitivity;
}

/// In the order of sites, of those that take bits of the budget.
std::vector<Demand> Compression::demands() const {
  std::vector<double> weights(states_.size(), 0.0), recomputed(states_.size(), 0.0);
  for (const SiteState& state : states_) {
    const auto origin = state.is_recomputed ? origin_of(state) : std::nullopt;
    if (!origin) continue;
    const auto elements = static_cast<double>(elements_of(state));
    recomputed[origin->root] += elements;
    if (!std::isfinite(origin->ratio)) continue;
    weights[origin->root] += elements * state.save_policy.weight * origin->ratio /
                             static_cast<double>(elements_of(states_[origin->root]));
  }
  const double typical = typical_sensitivity();
  std::vector<Demand> demands;
  for (size_t i = 0; i < states_.size(); ++i) {
    const SiteState& state = states_[i];
    if (!takes_budget(state)) continue;
    demands.push_back({static_cast<double>(elements_of(state)),
                       weight_of(state, typical) + weights[i], state.errors,
                       state.fixed.value_or(0), recomputed[i]});
  }
  return demands;
}

/// Of the latest forward; of the largest one so far where a budget of bytes has to hold for that.
int64_t Compression::elements_of(const SiteState& state) const {
  return options().bytes > 0 ? state.most_elements : state.site.elements;
}

/// What its latest tensor took beside bits of the budget, if that had as many elements as there can
/// be. Constants of a tensor do not grow with its elements.
void Compression::note_other_bits(SiteState& state) {
  if (options().bytes == 0 || state.site.elements == 0) return;
  const auto elements = static_cast<double>(state.site.elements);
  const double bytes = static_cast<double>(state.site.bytes_after + state.site.bytes_offloaded);
  const double own = state.save_policy.takes_bits() ? elements * state.coded_bits : 0.0;
  const double bits = std::max(8.0 * bytes - own, 0.0);
  const double growing = std::max(bits - kConstantBits, 0.0);
  const double most = bits + growing * (static_cast<double>(elements_of(state)) / elements - 1.0);
  has_changed_ |= most > state.other_bits;
  state.other_bits = std::max(state.other_bits, most);
}

/// Of a site that takes bits, beside these: as in the latest forward, or as much as there can be
/// once an activation's codes tell classes, or do no more.
double Compression::constant_bits(const SiteState& state) const {
  const auto elements = static_cast<double>(elements_of(state));
  const double groups = elements * kGroupBits / static_cast<double>(options().group);
  const bool follows_activations =
      options().scheme == Scheme::rotated && std::ranges::any_of(states_, follows_bits);
  const double most = groups + (follows_activations ? kConstantBits : 0.0);
  if (!state.recompute_path.empty()) return most;  // it was not coded
  return std::max(most, state.other_bits);
}

/// What the bytes leave for codes, beside constants and what takes no bits of the budget.
double Compression::average_bits(const std::vector<Demand>& demands,
                                 double activation_bytes) const {
  double left = 8.0 * (static_cast<double>(options().bytes) - activation_bytes);
  for (const SiteState& state : states_) {
    if (state.save_policy.storage == StorageKind::offloaded ||
        state.save_policy.storage == StorageKind::codes)
      continue;
    left -= takes_budget(state) ? constant_bits(state) : state.other_bits;
  }
  double elements = 0.0;
  for (const Demand& demand : demands) elements += demand.elements + demand.recomputed;
  return elements > 0.0 ? left / elements : options().bits;
}

}  // namespace fewbit::session

#include "compression/bit_allocation.hpp"

#include <algorithm>
#include <cmath>

#include "compression/allocation/activation_bits.hpp"
#include "compression/allocation/sensitivities.hpp"
#include "ops/activation.hpp"

namespace fewbit::session {

namespace {

/// Of a tensor: a seed, and two floats for each of the classes of its elements.
constexpr double kConstantBits = 64.0 + 16 * 64.0;

/// Of a group: a mean and a factor, or a minimum and a range.
constexpr double kGroupBits = 32.0;

/// Of so many bits, between whole ones too: errors fall by a constant factor a bit.
double error_at(const std::vector<double>& errors, double bits) {
  const double last = static_cast<double>(errors.size());
  const double place = std::clamp(bits, 1.0, last) - 1.0;
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, errors.size() - 1);
  const double share = place - std::floor(place);
  return std::pow(errors[below], 1.0 - share) * std::pow(errors[above], share);
}

}  // namespace

std::optional<BitAllocation::Origin> BitAllocation::origin_of(const SiteState& state) const {
  double ratio = 1.0;
  const SiteState* at = &state;
  for (size_t step = 0; step < sites_.all().size(); ++step) {
    const SiteState* root = at->root ? sites_.find(*at->root) : nullptr;
    if (root == nullptr) return std::nullopt;
    ratio *= at->ratio;
    at = root;
    if (at->is_recomputed) continue;
    const bool is_direct = step == 0;
    return Origin{root, ratio, is_direct ? state.floor : 0.0, is_direct ? state.floor_bits : 0};
  }
  return std::nullopt;  // a circle, out of a file
}

/// It falls with the root's, but for what the root's bits have no part in.
double BitAllocation::recomputed_error(const Origin& origin, double bits) const {
  const double error = origin.ratio * error_at(errors_of(*origin.root), bits);
  return bits <= origin.floor_bits ? std::max(error, origin.floor) : error;
}

/// Its bits at the root are worth more than at itself, given what both weigh.
bool BitAllocation::is_better_recomputed(const SiteState& state) const {
  const std::optional<Origin> origin = origin_of(state);
  if (!origin || state.fixed || state.errors.empty()) return false;
  const SiteState& root = *origin->root;
  if (&root == &state || root.errors.empty() || !root.save_policy.takes_bits()) return false;
  if (!std::isfinite(origin->ratio)) return false;
  const double own = static_cast<double>(state.site.elements) * state.save_policy.weight;
  const double roots = static_cast<double>(root.site.elements) * root.save_policy.weight;
  const double bits = coder_.options().bits;
  if (bits < 1.0) return true;  // there are none for codes of its own
  const double share =
      static_cast<double>(state.site.elements) / static_cast<double>(root.site.elements);
  const std::vector<double> of_root = errors_of(root);
  const double coded = roots * error_at(of_root, bits) + own * error_at(errors_of(state), bits);
  const double all = std::min(bits * (1.0 + share), static_cast<double>(root.errors.size()));
  return roots * error_at(of_root, all) + own * recomputed_error(*origin, all) <= coded;
}

void BitAllocation::choose_recomputed() {
  for (SiteState& state : sites_.all()) {
    if (!state.save_policy.takes_bits() || rules_.assignment_of(key_of(state.site))) continue;
    state.is_recomputed = (state.is_asked_for && !state.fixed) || is_better_recomputed(state);
  }
}

bool BitAllocation::takes_budget(const SiteState& state) {
  return state.save_policy.takes_bits() && !state.is_recomputed && !state.errors.empty();
}

/// The mean of those that are known; 0: none is.
double BitAllocation::typical_sensitivity() const {
  double sum = 0.0, elements = 0.0;
  for (const SiteState& state : sites_.all()) {
    if (state.sensitivity == 0.0) continue;
    sum += static_cast<double>(state.site.elements) * state.sensitivity;
    elements += static_cast<double>(state.site.elements);
  }
  return elements == 0.0 ? 0.0 : sum / elements;
}

/// Of a squared error over the tensor's energy, an element.
double BitAllocation::weight_of(const SiteState& state, double typical) const {
  if (typical == 0.0) return state.save_policy.weight;
  return state.sensitivity == 0.0 ? typical * state.save_policy.weight : state.sensitivity;
}

/// What is saved behind the last layer is a loss's: the gradients of all layers have its error, as
/// if each of their tensors had it.
void BitAllocation::raise_losses(std::vector<Demand>& demands) const {
  if (typical_sensitivity() != 0.0) return;  // that was measured
  double all = 0.0;
  for (const Demand& demand : demands) all += demand.elements + demand.recomputed;
  const std::vector<SiteState>& states = sites_.all();
  const auto is_layer = [](const SiteState& state) {
    return Sensitivities::is_layer(state.site.operation);
  };
  const auto behind = std::ranges::find_if(states.rbegin(), states.rend(), is_layer).base();
  if (behind == states.begin()) return;  // no layer is known
  size_t next = 0;
  for (auto state = states.begin(); state != states.end(); ++state) {
    if (!takes_budget(*state)) continue;
    Demand& demand = demands[next++];
    if (state >= behind) demand.weight *= state->energy_share * all / demand.elements;
  }
}

/// In the order of sites, of those that take bits of the budget.
std::vector<Demand> BitAllocation::demands() const {
  const std::vector<SiteState>& states = sites_.all();
  std::vector<double> weights(states.size(), 0.0), recomputed(states.size(), 0.0);
  for (const SiteState& state : states) {
    const auto origin = state.is_recomputed ? origin_of(state) : std::nullopt;
    if (!origin) continue;
    const auto root = static_cast<size_t>(origin->root - states.data());
    const auto elements = static_cast<double>(elements_of(state));
    recomputed[root] += elements;
    if (!std::isfinite(origin->ratio)) continue;
    weights[root] += elements * state.save_policy.weight * origin->ratio /
                     static_cast<double>(elements_of(*origin->root));
  }
  const double typical = typical_sensitivity();
  std::vector<Demand> demands;
  for (size_t i = 0; i < states.size(); ++i) {
    const SiteState& state = states[i];
    if (!takes_budget(state)) continue;
    demands.push_back({static_cast<double>(elements_of(state)),
                       weight_of(state, typical) + weights[i], state.errors,
                       state.fixed.value_or(0), recomputed[i]});
    for (const DirectionsOption& option : options_of(state)) {
      demands.back().alternatives.push_back(
          {option.bits, session::errors_of(state, option.choice, coder_)});
    }
  }
  raise_losses(demands);
  return demands;
}

/// Of the latest forward; of the largest one so far where a budget of bytes has to hold for that.
int64_t BitAllocation::elements_of(const SiteState& state) const {
  return coder_.options().bytes > 0 ? state.most_elements : state.site.elements;
}

/// What its latest tensor took in addition to bits of the budget, if that had as many elements as
/// there can be. Constants of a tensor do not grow with its elements.
void BitAllocation::note_other_bits(SiteState& state) {
  if (coder_.options().bytes == 0 || state.site.elements == 0) return;
  if (state.coded_choice.count > 0 && !state.directions) return;  // they were given up since
  const auto elements = static_cast<double>(state.site.elements);
  const double bytes = static_cast<double>(state.site.bytes_after + state.site.bytes_offloaded);
  const double own = state.save_policy.takes_bits()
                         ? elements * (state.coded_bits + bits_of(state, state.coded_choice))
                         : 0.0;
  const double bits = std::max(8.0 * bytes - own, 0.0);
  const double growing = std::max(bits - kConstantBits, 0.0);
  const double most = bits + growing * (static_cast<double>(elements_of(state)) / elements - 1.0);
  sites_.has_changed |= most > state.other_bits;
  state.other_bits = std::max(state.other_bits, most);
}

/// Of its latest tensor, an element.
double BitAllocation::bits_of(const SiteState& state, const DirectionsChoice& choice) {
  if (!state.directions || choice.count == 0) return 0.0;
  return codecs::bits_of_directions(chosen(*state.directions, choice), state.site.elements);
}

/// Of directions that have been measured.
std::vector<DirectionsOption> BitAllocation::options_of(const SiteState& state) const {
  if (!state.directions || state.error_of_rest == 0.0) return {};
  return session::options_of(*state.directions, elements_of(state));
}

/// As it is coded at present.
std::vector<double> BitAllocation::errors_of(const SiteState& state) const {
  return session::errors_of(state, state.coded_choice, coder_);
}

/// Of a site that takes bits, in addition to these: as in the latest forward, or as much as there
/// can be once an activation's codes tell classes, or do no more.
double BitAllocation::constant_bits(const SiteState& state) const {
  const CompressorOptions& options = coder_.options();
  const auto elements = static_cast<double>(elements_of(state));
  const double groups = elements * kGroupBits / static_cast<double>(options.group);
  const bool follows_activations =
      options.scheme == Scheme::rotated && std::ranges::any_of(sites_.all(), follows_bits);
  const double most = groups + (follows_activations ? kConstantBits : 0.0);
  if (!state.recompute_path.empty()) return most;  // it was not coded
  return std::max(most, state.other_bits);
}

/// What the bytes leave for codes, after constants and what takes no bits of the budget.
double BitAllocation::average_bits(const std::vector<Demand>& demands,
                                   double activation_bytes) const {
  const CompressorOptions& options = coder_.options();
  double left = 8.0 * (static_cast<double>(options.bytes) - activation_bytes);
  for (const SiteState& state : sites_.all()) {
    const StorageKind storage = state.save_policy.storage;
    if (storage == StorageKind::offloaded || storage == StorageKind::codes) continue;
    left -= takes_budget(state) ? constant_bits(state) : state.other_bits;
  }
  double elements = 0.0;
  for (const Demand& demand : demands) elements += demand.elements + demand.recomputed;
  return elements > 0.0 ? left / elements : options.bits;
}

bool BitAllocation::follows_bits(const SiteState& state) {
  return state.save_policy.storage == StorageKind::codes && !state.fixed && !state.errors.empty();
}

int BitAllocation::bits_beside(const SiteState& state, double average) const {
  return average < 1.0 ? 1 : bits_for(state.errors, coder_.activation_error(average));
}

double BitAllocation::activation_bytes(double average) const {
  double bytes = 0.0;
  for (const SiteState& state : sites_.all()) {
    if (state.save_policy.storage != StorageKind::codes) continue;
    bytes +=
        follows_bits(state)
            ? static_cast<double>(ops::code_bytes(elements_of(state), bits_beside(state, average)))
            : state.other_bits / 8.0;
  }
  return bytes;
}

/// Of a budget of bytes activations leave the less to others the more bits these have on average:
/// the most with which both fit.
BitAllocation::Averages BitAllocation::averages(const std::vector<Demand>& demands) const {
  const CompressorOptions& options = coder_.options();
  if (options.bytes == 0) return {options.bits, options.bits};
  constexpr double kStep = 1.0 / 16.0;
  double average = kMostBits;
  double left = average_bits(demands, activation_bytes(average));
  while (left < average && average > 1.0) {
    average -= kStep;
    left = average_bits(demands, activation_bytes(average));
  }
  if (left >= 1.0) return {average, left};
  constexpr double kLeast = 0.0;  // one bit, whatever its error
  return {kLeast, average_bits(demands, activation_bytes(kLeast))};
}

void BitAllocation::split() {
  for (SiteState& state : sites_.all()) note_other_bits(state);
  if (!sites_.has_changed) return;
  sites_.has_changed = false;
  choose_recomputed();
  if (!coder_.splits_bits()) return;
  const std::vector<Demand> demands = this->demands();
  const Averages average = averages(demands);
  for (SiteState& state : sites_.all()) {
    if (follows_bits(state)) state.bits = bits_beside(state, average.of_activations);
  }
  const BitSplit split = split_bits(demands, average.of_others);
  size_t next = 0;
  for (SiteState& state : sites_.all()) {
    if (!takes_budget(state)) continue;
    state.bits = split.bits[next];
    const int alternative = split.alternatives[next++];
    state.directions_choice = alternative < 0
                                  ? DirectionsChoice()
                                  : options_of(state)[static_cast<size_t>(alternative)].choice;
  }
}

std::optional<double> BitAllocation::gap() const {
  if (!coder_.splits_bits()) return std::nullopt;
  const std::vector<Demand> demands = this->demands();
  double loss = 0.0;
  size_t next = 0;
  for (const SiteState& state : sites_.all()) {
    if (!takes_budget(state)) continue;
    const Demand& demand = demands[next++];
    const std::vector<double> errors = session::errors_of(state, state.directions_choice, coder_);
    loss += demand.elements * demand.weight * errors[static_cast<size_t>(state.bits) - 1];
  }
  const double bound = split_bits(demands, averages(demands).of_others).bound;
  if (bound <= 0.0) return std::nullopt;
  return std::max(loss / bound - 1.0, 0.0);
}

double BitAllocation::error_of(const SiteState& state) const {
  const auto origin = state.is_recomputed ? origin_of(state) : std::nullopt;
  const SiteState& coded = origin ? *origin->root : state;
  if (coded.errors.empty()) return 0.0;
  if (origin) return recomputed_error(*origin, coded.coded_bits);
  return errors_of(coded)[static_cast<size_t>(std::max(coded.coded_bits, 1)) - 1];
}

double BitAllocation::median_error_of(const SiteState& state) const {
  const auto origin = state.is_recomputed ? origin_of(state) : std::nullopt;
  return (origin ? *origin->root : state).median_share * error_of(state);
}

}  // namespace fewbit::session

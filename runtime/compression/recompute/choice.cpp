// What is not coded since it comes of others' codes, and what that is worth to these.
#include <algorithm>
#include <array>
#include <cmath>

#include <c10/util/Exception.h>

#include "compression/allocation/error.hpp"
#include "compression/compression.hpp"
#include "compression/recompute/derivation_rules.hpp"

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

/// Those that cost little time, and in a scheme of others what it is made of.
Derive at_first(std::string_view name, Scheme scheme) {
  constexpr std::array<std::string_view, 5> kCheap = {"copy", "norm", "relu", "dropout", "sum"};
  const bool is_cheap = std::ranges::find(kCheap, name) != kCheap.end();
  if (name == kSign) return scheme == Scheme::blpa ? Derive::always : Derive::never;
  if (scheme == Scheme::blpa && is_cheap && name != "sum") return Derive::always;
  return is_cheap && scheme == Scheme::rotated ? Derive::where_better : Derive::never;
}

}  // namespace

void Compression::set_derivation(const std::string& name, Derive when) {
  std::string known = "*";
  for (const std::string_view one : derivations()) known += ", " + std::string(one);
  const bool is_all = name == "*";
  TORCH_CHECK(is_all || std::ranges::find(derivations(), name) != derivations().end(),
              "fewbit::Compressor::derive: '", name, "' is no derivation, accepted: ", known);
  const std::lock_guard lock(mutex_);
  for (const std::string_view one : derivations()) {
    if (is_all || one == name) derivations_[std::string(one)] = when;
  }
  has_changed_ = true;
}

bool Compression::knows(const at::Tensor& tensor) const {
  const void* address = memory_of(tensor).address();
  const std::lock_guard lock(mutex_);
  return parameters_.contains(address);
}

Derive Compression::derivation(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto known = derivations_.find(name);
  const bool is_never = known != derivations_.end() && known->second == Derive::never;
  // Which places take one is given.
  const bool is_planned = !assignments_.empty() && name != "softmax" && name != kSign;
  if (is_planned && !is_never) return Derive::where_better;
  return known == derivations_.end() ? at_first(name, options().scheme) : known->second;
}

void Compression::measure_derived(const SiteKey& key, const Treatment& treatment,
                                  const at::Tensor& run, const at::Tensor& derived,
                                  const SiteKey& root) {
  const double error = error_of(run, derived, treatment.is_norm);
  const std::lock_guard lock(mutex_);
  const auto number = numbers_.find(key), root_number = numbers_.find(root);
  if (number == numbers_.end() || root_number == numbers_.end()) return;
  Place& place = places_[number->second];
  const Place& source = places_[root_number->second];
  if (source.errors.empty() || source.coded_bits < 1) return;
  const double of_root = source.errors[static_cast<size_t>(source.coded_bits) - 1];
  if (place.root != root) place.floor_bits = 0;
  place.root = root;
  place.ratio = error == 0.0 ? 0.0 : error / of_root;
  if (source.coded_bits >= place.floor_bits) {
    place.floor_bits = source.coded_bits;
    place.floor = error;
  }
  has_changed_ = true;
}

std::optional<Compression::Origin> Compression::origin_of(const Place& place) const {
  double ratio = 1.0;
  const Place* at = &place;
  for (size_t step = 0; step < places_.size(); ++step) {
    if (!at->root) return std::nullopt;
    const auto root = numbers_.find(*at->root);
    if (root == numbers_.end()) return std::nullopt;
    ratio *= at->ratio;
    at = &places_[root->second];
    if (at->is_derived) continue;
    const bool is_direct = step == 0;
    return Origin{root->second, ratio, is_direct ? place.floor : 0.0,
                  is_direct ? place.floor_bits : 0};
  }
  return std::nullopt;  // a circle, out of a file
}

/// It falls with the root's, but for what the root's bits have no part in.
double Compression::derived_error(const Origin& origin, const Place& root, double bits) {
  const double error = origin.ratio * error_at(root.errors, bits);
  return bits <= origin.floor_bits ? std::max(error, origin.floor) : error;
}

/// Its bits at the root are worth more than at itself, beside what both weigh.
bool Compression::is_better_derived(const Place& place) const {
  const std::optional<Origin> origin = origin_of(place);
  if (!origin || place.fixed || place.errors.empty()) return false;
  const Place& root = places_[origin->root];
  if (&root == &place || root.errors.empty() || !root.treatment.takes_bits()) return false;
  if (!std::isfinite(origin->ratio)) return false;
  const double own = static_cast<double>(place.site.elements) * place.treatment.weight;
  const double roots = static_cast<double>(root.site.elements) * root.treatment.weight;
  const double bits = options().bits;
  const double share =
      static_cast<double>(place.site.elements) / static_cast<double>(root.site.elements);
  const double coded = roots * error_at(root.errors, bits) + own * error_at(place.errors, bits);
  const double all = std::min(bits * (1.0 + share), static_cast<double>(root.errors.size()));
  return roots * error_at(root.errors, all) + own * derived_error(*origin, root, all) <= coded;
}

void Compression::choose_derived() {
  for (Place& place : places_) {
    if (!place.treatment.takes_bits() || assignment_of(key_of(place.site))) continue;
    place.is_derived = (place.is_asked_for && !place.fixed) || is_better_derived(place);
  }
}

bool Compression::takes_budget(const Place& place) {
  return place.treatment.takes_bits() && !place.is_derived && !place.errors.empty();
}

void Compression::note_sensitivity(const SiteKey& key, double sensitivity) {
  if (!std::isfinite(sensitivity)) return;
  const std::lock_guard lock(mutex_);
  const auto number = numbers_.find(key);
  if (number == numbers_.end()) return;
  places_[number->second].sensitivity = sensitivity;
  has_changed_ = true;
}

/// The mean of those that are known; 0: none is.
double Compression::typical_sensitivity() const {
  double sum = 0.0, elements = 0.0;
  for (const Place& place : places_) {
    if (place.sensitivity == 0.0) continue;
    sum += static_cast<double>(place.site.elements) * place.sensitivity;
    elements += static_cast<double>(place.site.elements);
  }
  return elements == 0.0 ? 0.0 : sum / elements;
}

/// Of a squared error over the tensor's energy, an element.
double Compression::weight_of(const Place& place, double typical) const {
  if (typical == 0.0) return place.treatment.weight;
  return place.sensitivity == 0.0 ? typical * place.treatment.weight : place.sensitivity;
}

/// In the order of places, of those that take bits of the budget.
std::vector<Demand> Compression::demands() const {
  std::vector<double> weights(places_.size(), 0.0), derived(places_.size(), 0.0);
  for (const Place& place : places_) {
    const auto origin = place.is_derived ? origin_of(place) : std::nullopt;
    if (!origin) continue;
    const auto elements = static_cast<double>(elements_of(place));
    derived[origin->root] += elements;
    if (!std::isfinite(origin->ratio)) continue;
    weights[origin->root] += elements * place.treatment.weight * origin->ratio /
                             static_cast<double>(elements_of(places_[origin->root]));
  }
  const double typical = typical_sensitivity();
  std::vector<Demand> demands;
  for (size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    if (!takes_budget(place)) continue;
    demands.push_back({static_cast<double>(elements_of(place)),
                       weight_of(place, typical) + weights[i], place.errors,
                       place.fixed.value_or(0), derived[i]});
  }
  return demands;
}

/// Of the latest forward; of the largest one so far where a budget of bytes has to hold for that.
int64_t Compression::elements_of(const Place& place) const {
  return options().bytes > 0 ? place.most_elements : place.site.elements;
}

/// What its latest tensor took beside bits of the budget, if that had as many elements as there can
/// be. Constants of a tensor do not grow with its elements.
void Compression::note_other_bits(Place& place) {
  if (options().bytes == 0 || place.site.elements == 0) return;
  const auto elements = static_cast<double>(place.site.elements);
  const double bytes = static_cast<double>(place.site.bytes_after + place.site.bytes_away);
  const double own = place.treatment.takes_bits() ? elements * place.coded_bits : 0.0;
  const double bits = std::max(8.0 * bytes - own, 0.0);
  const double growing = std::max(bits - kConstantBits, 0.0);
  const double most = bits + growing * (static_cast<double>(elements_of(place)) / elements - 1.0);
  has_changed_ |= most > place.other_bits;
  place.other_bits = std::max(place.other_bits, most);
}

/// Of a place that takes bits, beside these: as in the latest forward, or as much as there can be
/// once an activation's codes tell classes, or do no more.
double Compression::constant_bits(const Place& place) const {
  const auto elements = static_cast<double>(elements_of(place));
  const double groups = elements * kGroupBits / static_cast<double>(options().group);
  const bool follows_activations =
      options().scheme == Scheme::rotated && std::ranges::any_of(places_, follows_bits);
  const double most = groups + (follows_activations ? kConstantBits : 0.0);
  if (!place.derivation.empty()) return most;  // it was not coded
  return std::max(most, place.other_bits);
}

/// What the bytes leave for codes, beside constants and what takes no bits of the budget.
double Compression::average_bits(const std::vector<Demand>& demands,
                                 double activation_bytes) const {
  double left = 8.0 * (static_cast<double>(options().bytes) - activation_bytes);
  for (const Place& place : places_) {
    if (place.treatment.way == Way::away || place.treatment.way == Way::codes) continue;
    left -= takes_budget(place) ? constant_bits(place) : place.other_bits;
  }
  double elements = 0.0;
  for (const Demand& demand : demands) elements += demand.elements + demand.derived;
  return elements > 0.0 ? left / elements : options().bits;
}

}  // namespace fewbit::session

// What is not coded since it comes of others' codes, and what that is worth to these.
#include <algorithm>
#include <cmath>

#include <c10/util/Exception.h>

#include "session/compression.hpp"
#include "session/compression_error.hpp"
#include "session/derivation_rules.hpp"

namespace fewbit::session {

namespace {

/// Of so many bits, between whole ones too: errors fall by a constant factor a bit.
double error_at(const std::vector<double>& errors, double bits) {
  const double last = static_cast<double>(errors.size());
  const double place = std::clamp(bits, 1.0, last) - 1.0;
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, errors.size() - 1);
  const double share = place - std::floor(place);
  return std::pow(errors[below], 1.0 - share) * std::pow(errors[above], share);
}

/// Those that cost little time.
Derive at_first(std::string_view name) {
  return name == "copy" || name == "norm" || name == "relu" ? Derive::where_better : Derive::never;
}

}  // namespace

void Compression::set_derivation(const std::string& name, Derive when) {
  std::string known;
  for (const std::string_view one : derivations())
    known += (known.empty() ? "" : ", ") + std::string(one);
  TORCH_CHECK(std::ranges::find(derivations(), name) != derivations().end(),
              "fewbit::Compressor::derive: '", name, "' is no derivation, accepted: ", known);
  const std::lock_guard lock(mutex_);
  derivations_[name] = when;
  has_changed_ = true;
}

Derive Compression::derivation(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto known = derivations_.find(name);
  return known == derivations_.end() ? at_first(name) : known->second;
}

bool Compression::derives(const SiteKey& key, const Saving& saving, bool is_asked_for) const {
  const std::lock_guard lock(mutex_);
  if (rule_of(saving) != nullptr) return false;  // it says how
  const auto number = numbers_.find(key);
  return is_asked_for || (number != numbers_.end() && places_[number->second].is_derived);
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
  place.root = root;
  place.ratio = of_root == 0.0 ? 0.0 : error / of_root;
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
    if (!at->is_derived) return Origin{root->second, ratio};
  }
  return std::nullopt;  // a circle, out of a file
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
  const double bits = options_.bits;
  const double share =
      static_cast<double>(place.site.elements) / static_cast<double>(root.site.elements);
  const double coded = roots * error_at(root.errors, bits) + own * error_at(place.errors, bits);
  return (roots + own * origin->ratio) * error_at(root.errors, bits * (1.0 + share)) <= coded;
}

void Compression::choose_derived() {
  for (Place& place : places_) {
    if (place.treatment.takes_bits())
      place.is_derived = place.is_asked_for || is_better_derived(place);
  }
}

bool Compression::takes_budget(const Place& place) {
  return place.treatment.takes_bits() && !place.is_derived && !place.errors.empty();
}

/// In the order of places, of those that take bits of the budget.
std::vector<Demand> Compression::demands() const {
  std::vector<double> weights(places_.size(), 0.0), derived(places_.size(), 0.0);
  for (const Place& place : places_) {
    const auto origin = place.is_derived ? origin_of(place) : std::nullopt;
    if (!origin) continue;
    const auto elements = static_cast<double>(place.site.elements);
    derived[origin->root] += elements;
    weights[origin->root] += elements * place.treatment.weight * origin->ratio /
                             static_cast<double>(places_[origin->root].site.elements);
  }
  std::vector<Demand> demands;
  for (size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    if (!takes_budget(place)) continue;
    demands.push_back({static_cast<double>(place.site.elements),
                       place.treatment.weight + weights[i], place.errors, place.fixed.value_or(0),
                       derived[i]});
  }
  return demands;
}

}  // namespace fewbit::session

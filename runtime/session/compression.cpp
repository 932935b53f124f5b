#include "session/compression.hpp"

#include <algorithm>
#include <cmath>

#include <c10/util/Exception.h>
#include <torch/csrc/autograd/function.h>

#include "session/compression_budget.hpp"

namespace fewbit::session {

namespace {

/// Below this a group's constants and our own books would be what is kept.
constexpr int64_t kFewElements = 1024;

constexpr int kMostBits = 8;

/// Errors are measured at a place's first, second, third, fifth, ... tensor, and every so many.
constexpr int64_t kMeasured = 64;

bool is_plain(const at::Tensor& tensor) {
  return tensor.layout() == at::kStrided && tensor.has_storage() && !tensor.is_nested() &&
         !tensor.is_quantized() && tensor.device().is_cpu();
}

/// What a bit more brings: the measured error, and from there on as it falls for N(0, 1).
std::vector<double> errors_by_bits(double measured, int bits) {
  std::vector<double> errors;
  for (int b = 1; b <= kMostBits; ++b) {
    errors.push_back(measured * codecs::rotated_error(b) / codecs::rotated_error(bits));
  }
  return errors;
}

int64_t bytes_of(at::TensorList tensors) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

void check_bits(const char* what, double bits) {
  TORCH_CHECK(bits >= 1 && bits <= kMostBits, "fewbit::Compressor: ", what, " is ", bits,
              ", accepted: 1 to 8");
}

}  // namespace

Compression::Compression(CompressorOptions options) : options_(options) {
  check_bits("bits", options.bits);
  check_bits("activation_bits", options.activation_bits);
  TORCH_CHECK(codecs::is_group(options.group), "fewbit::Compressor: group is ", options.group,
              ", accepted: 64, 128, 256, 512, 1024");
}

void Compression::set_rule(const std::string& operation, std::optional<int> bits) {
  if (bits) check_bits("a rule's bits", *bits);
  const std::lock_guard lock(mutex_);
  rules_[operation] = {bits};
}

const Compression::Rule* Compression::rule_of(const Saving& saving) const {
  const auto rule = rules_.find(saving.facts.operation);
  return rule == rules_.end() ? nullptr : &rule->second;
}

bool Compression::codes(const at::Tensor& tensor, const Saving& saving) const {
  if (torch::autograd::get_current_node() != nullptr) return false;  // in a backward pass
  if (saving.facts.parameter || saving.facts.maker == SavedTensor::kNoGradient) return false;
  if (tensor.numel() < kFewElements || !is_plain(tensor)) return false;
  if (!codec_of(1)->takes(tensor) || is_of_parameter(tensor)) return false;
  const std::lock_guard lock(mutex_);
  if (const Rule* rule = rule_of(saving)) return rule->bits.has_value();
  return harm_of(saving).weight > 0.0;
}

codecs::CodecPointer Compression::codec_of(int bits) const {
  return codecs::rotated(bits, options_.group);
}

/// Until its error is known a place has what it would have among places that weigh 1.
int Compression::bits_without_place(const Saving& saving) const {
  const double more = std::log(std::max(harm_of(saving).weight, 1.0)) / std::log(4.0);
  return std::min(kMostBits, static_cast<int>(options_.bits + std::round(more)));
}

int Compression::bits_at(const SiteKey& key, const Saving& saving) const {
  const std::lock_guard lock(mutex_);
  const auto number = numbers_.find(key);
  if (number != numbers_.end()) return places_[number->second].bits;
  const Rule* rule = rule_of(saving);
  return rule != nullptr ? *rule->bits : bits_without_place(saving);
}

void Compression::note(const SiteKey& key, const Saving& saving, int bits, const at::Tensor& run,
                       const codecs::Encoded& encoded, std::optional<double> error) {
  const std::lock_guard lock(mutex_);
  const auto [number, is_new] = numbers_.try_emplace(key, places_.size());
  if (is_new) {
    const auto& [operation, argument, call] = key;
    const Rule* rule = rule_of(saving);
    places_.push_back({{operation, argument, call, "", 0, 0, 0, 0, 0.0},
                       harm_of(saving).weight,
                       bits,
                       rule != nullptr ? rule->bits : std::nullopt});
  }
  Place& place = places_[number->second];
  Compressor::Site& site = place.site;
  site.codec = codec_of(bits)->name();
  ++site.count;
  site.elements = run.numel();
  site.bytes_before = static_cast<int64_t>(run.nbytes());
  site.bytes_after = bytes_of(encoded.tensors());
  place.bits = bits;
  if (!error) return;
  site.error = *error;
  has_changed_ = true;
}

void Compression::raise(const SiteKey& key, const Saving& saving) {
  const std::lock_guard lock(mutex_);
  const auto number = numbers_.find(key);
  if (number == numbers_.end()) return;
  Place& place = places_[number->second];
  const double weight = std::max(place.weight, harm_of(saving).weight);
  std::optional<int> fixed = place.fixed;
  if (const Rule* rule = rule_of(saving)) fixed = std::max(fixed, rule->bits);
  has_changed_ |= weight > place.weight || fixed != place.fixed;
  place.weight = weight;
  place.fixed = fixed;
}

bool Compression::measures(int64_t count) {
  return count >= kMeasured ? count % kMeasured == 0 : (count & (count - 1)) == 0;
}

bool Compression::is_due(const SiteKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto number = numbers_.find(key);
  return number == numbers_.end() || measures(places_[number->second].site.count);
}

void Compression::end_forward() {
  const std::lock_guard lock(mutex_);
  if (!has_changed_) return;
  has_changed_ = false;
  std::vector<Demand> demands;
  for (const Place& place : places_) {
    demands.push_back({static_cast<double>(place.site.elements), place.weight,
                       errors_by_bits(place.site.error, place.bits), place.fixed.value_or(0)});
  }
  const std::vector<int> bits = split_bits(demands, options_.bits);
  for (size_t i = 0; i < bits.size(); ++i) {
    Place& place = places_[i];
    // Of so many bits from now on.
    place.site.error = demands[i].error[static_cast<size_t>(bits[i]) - 1];
    place.bits = bits[i];
  }
}

std::vector<Compressor::Site> Compression::sites() const {
  const std::lock_guard lock(mutex_);
  std::vector<Compressor::Site> sites;
  for (const Place& place : places_) sites.push_back(place.site);
  return sites;
}

}  // namespace fewbit::session

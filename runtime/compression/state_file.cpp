// The places of a Compressor as text, a line each:
//
//   fewbit compressor 7 0f3c52a90b1d7e64
//   12 changed 1
//   1 0 rotated rotated 2 64 51200 51200 9024 204800 13928 1 0 2 0 .571 .133 ... -1 0 0 0 coded
//   chosen - aten::addmm
//
// The number is a digest of all that follows. What the words mean: docs/files.md. The operation's
// name may have blanks, so it is the last.
#include <algorithm>
#include <sstream>

#include <c10/util/Exception.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "compression/compression.hpp"

namespace fewbit::session {

namespace {

constexpr const char* kTitle = "fewbit compressor 7";
constexpr size_t kErrors = 8;

const char* name_of(Way way) {
  switch (way) {
    case Way::rotated:
      return "rotated";
    case Way::probabilities:
      return "probabilities";
    case Way::mask:
      return "mask";
    case Way::integers:
      return "integers";
    case Way::bf16:
      return "bf16";
    case Way::e4m3:
      return "e4m3";
    case Way::e5m2:
      return "e5m2";
    case Way::away:
      return "away";
    case Way::codes:
      return "codes";
    case Way::exact:
      return "exact";
    default:
      return "sizes";
  }
}

std::optional<Way> way_of(const std::string& name) {
  for (const Way way : {Way::rotated, Way::probabilities, Way::mask, Way::integers, Way::sizes,
                        Way::bf16, Way::e4m3, Way::e5m2, Way::away, Way::codes, Way::exact}) {
    if (name == name_of(way)) return way;
  }
  return std::nullopt;
}

/// A derivation as one word, and back.
std::string with(std::string text, char now, char then) {
  std::ranges::replace(text, now, then);
  return text;
}

/// The first line of a file that goes on so.
std::string with_digest(std::string_view rest) {
  return std::string(kTitle) + ' ' + digest(rest) + '\n';
}

/// What follows the first line.
std::string checked(const std::string& text) {
  const size_t end = text.find('\n');
  const std::string first = text.substr(0, end);
  if (!first.starts_with(kTitle)) {
    throw Error("begins with '" + first + "', accepted: '" + kTitle + "'");
  }
  std::string rest = end == std::string::npos ? "" : text.substr(end + 1);
  if (first + '\n' != with_digest(rest)) throw Error("was changed or cut after it was written");
  return rest;
}

[[noreturn]] void refuse(const std::string& line) {
  throw Error("is no place of a compressor: '" + line + "'");
}

}  // namespace

std::string Compression::text() const {
  const std::lock_guard lock(mutex_);
  std::ostringstream text;
  text << forwards_ << (has_changed_ ? " changed " : " split ") << places_.size() << '\n';
  for (const Place& place : places_) {
    const Compressor::Site& site = place.site;
    text << site.argument << ' ' << site.call << ' ' << name_of(place.treatment.way) << ' '
         << name_of(place.kind) << ' ' << place.bits << ' ' << site.count << ' ' << site.elements
         << ' ' << place.most_elements << ' ' << shortest(place.other_bits) << ' '
         << site.bytes_before << ' ' << site.bytes_after << ' ' << shortest(place.treatment.weight)
         << ' ' << place.fixed.value_or(0) << ' ' << place.coded_bits << ' '
         << shortest(place.sensitivity);
    for (size_t i = 0; i < kErrors; ++i) {
      text << ' ' << shortest(place.errors.empty() ? -1.0 : place.errors[i]);
    }
    const bool has_root = place.root && numbers_.contains(*place.root);
    text << ' ' << shortest(place.median_share) << ' '
         << (has_root ? static_cast<int64_t>(numbers_.at(*place.root)) : -1) << ' '
         << shortest(place.ratio) << ' ' << shortest(place.floor) << ' ' << place.floor_bits << ' '
         << (place.is_derived ? "derived" : "coded") << ' '
         << (place.is_asked_for ? "asked" : "chosen") << ' '
         << (place.derivation.empty() ? "-" : with(place.derivation, ' ', '_'));
    text << ' ' << site.operation << '\n';
  }
  const std::string rest = text.str();
  return with_digest(rest) + rest;
}

void Compression::read(const std::string& text) {
  std::istringstream lines(checked(text));
  std::string line;
  std::getline(lines, line);
  std::istringstream state(line);
  uint64_t forwards = 0;
  std::string is_split;
  size_t count = 0;
  state >> forwards >> is_split >> count;
  if (!state || (is_split != "split" && is_split != "changed")) {
    throw Error("line 2 is '" + line +
                "', accepted: a number of forwards, 'split' or 'changed', a number of places");
  }
  std::vector<Place> places;
  std::map<SiteKey, size_t> numbers;
  std::vector<SiteKey> keys;
  std::vector<int64_t> roots;  // by number
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    Place place;
    std::string way, codec, other_bits, weight, sensitivity, error;
    int fixed = 0;
    Compressor::Site& site = place.site;
    words >> site.argument >> site.call >> way >> codec >> place.bits >> site.count >>
        site.elements >> place.most_elements >> other_bits >> site.bytes_before >>
        site.bytes_after >> weight >> fixed >> place.coded_bits >> sensitivity;
    const std::optional<Way> known = way_of(way);
    const std::optional<CodecKind> kind = codec_kind_of(codec);
    if (!words || !known || !kind) refuse(line);
    place.other_bits = parse_number(other_bits, "bits");
    place.treatment = {*known, parse_number(weight, "weight")};
    place.sensitivity = parse_number(sensitivity, "sensitivity");
    if (fixed > 0) place.fixed = fixed;
    place.kind = *kind;
    std::vector<double> errors;
    while (errors.size() < kErrors && words >> error) {
      errors.push_back(parse_number(error, "error"));
    }
    std::string median, ratio, floor, is_derived, is_asked_for;
    words >> median >> roots.emplace_back(-1) >> ratio >> floor >> place.floor_bits >> is_derived >>
        is_asked_for >> place.derivation;
    std::getline(words >> std::ws, site.operation);
    if (errors.size() < kErrors || site.operation.empty()) refuse(line);
    place.median_share = parse_number(median, "median");
    place.ratio = parse_number(ratio, "ratio");
    place.floor = parse_number(floor, "error");
    place.is_derived = is_derived == "derived";
    place.is_asked_for = is_asked_for == "asked";
    place.derivation = place.derivation == "-" ? "" : with(place.derivation, '_', ' ');
    if (errors[0] >= 0.0) place.errors = errors;
    const bool has_bits = place.treatment.takes_bits();
    const bool may_have_bits = has_bits || *known == Way::codes;
    if (has_bits && (place.bits <= 0 || place.coded_bits <= 0)) refuse(line);
    if (!may_have_bits && (place.bits != 0 || place.coded_bits != 0)) refuse(line);
    if (place.bits > kMostBits || place.coded_bits > kMostBits || fixed > kMostBits) refuse(line);
    site.codec = name_at(place);
    keys.emplace_back(site.operation, site.argument, site.call);
    numbers[keys.back()] = places.size();
    places.push_back(std::move(place));
  }
  if (places.size() != count) {
    throw Error("ends after " + std::to_string(places.size()) + " of " + std::to_string(count) +
                " places");
  }
  for (size_t i = 0; i < places.size(); ++i) {
    const auto root = static_cast<size_t>(roots[i]);
    if (roots[i] >= 0 && root < places.size()) places[i].root = keys[root];
  }
  const std::lock_guard lock(mutex_);
  places_ = std::move(places);
  numbers_ = std::move(numbers);
  forwards_ = forwards;
  has_changed_ = is_split == "changed";
}

void Compression::save(const std::string& path) const {
  try {
    write_text_file(path, text());
  } catch (const Error& error) {
    TORCH_CHECK(false, "fewbit::Compressor::save: ", error.what());
  }
}

void Compression::load(const std::string& path) {
  try {
    read(read_text_file(path));
  } catch (const Error& error) {
    TORCH_CHECK(false, "fewbit::Compressor::load: ", path, ": ", error.what());
  }
}

}  // namespace fewbit::session

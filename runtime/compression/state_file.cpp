// The sites of a Compressor as text, a line each:
//
//   fewbit compressor 10 0f3c52a90b1d7e64
//   12 changed 1
//   1 0 rotated rotated 2 64 51200 51200 9024 204800 13928 1 0 2 0 .571 .133 ... -1 0 0 0 coded
//   chosen - - aten::addmm
//
// The number is a digest of all that follows. What the words mean: docs/files.md. The operation's
// name may have blanks, so it is the last.
#include "compression/state_file.hpp"

#include <algorithm>
#include <sstream>

#include <c10/util/Exception.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "compression/directions_text.hpp"

namespace fewbit::session {

namespace {

constexpr const char* kTitle = "fewbit compressor 10";
constexpr size_t kErrors = 8;

const char* name_of(StorageKind storage) {
  switch (storage) {
    case StorageKind::rotated:
      return "rotated";
    case StorageKind::probabilities:
      return "probabilities";
    case StorageKind::mask:
      return "mask";
    case StorageKind::integers:
      return "integers";
    case StorageKind::bf16:
      return "bf16";
    case StorageKind::e4m3:
      return "e4m3";
    case StorageKind::e5m2:
      return "e5m2";
    case StorageKind::offloaded:
      return "offloaded";
    case StorageKind::codes:
      return "codes";
    case StorageKind::exact:
      return "exact";
    default:
      return "sizes";
  }
}

std::optional<StorageKind> storage_of(const std::string& name) {
  for (const StorageKind storage :
       {StorageKind::rotated, StorageKind::probabilities, StorageKind::mask, StorageKind::integers,
        StorageKind::sizes, StorageKind::bf16, StorageKind::e4m3, StorageKind::e5m2,
        StorageKind::offloaded, StorageKind::codes, StorageKind::exact}) {
    if (name == name_of(storage)) return storage;
  }
  return std::nullopt;
}

/// How it is recomputed as one word, and back.
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
  throw Error("is no site of a compressor: '" + line + "'");
}

/// Line 2.
SavedState read_header(const std::string& line, size_t& count) {
  std::istringstream words(line);
  SavedState state;
  std::string is_split;
  words >> state.forwards >> is_split >> count;
  if (!words || (is_split != "split" && is_split != "changed")) {
    throw Error("line 2 is '" + line +
                "', accepted: a number of forwards, 'split' or 'changed', a number of sites");
  }
  state.has_changed = is_split == "changed";
  return state;
}

void check_bits(const SiteState& state, const std::string& line) {
  const bool has_bits = state.save_policy.takes_bits();
  const bool may_have_bits = has_bits || state.save_policy.storage == StorageKind::codes;
  if (has_bits && (state.bits <= 0 || state.coded_bits <= 0)) refuse(line);
  if (!may_have_bits && (state.bits != 0 || state.coded_bits != 0)) refuse(line);
  const int most = std::max({state.bits, state.coded_bits, state.fixed.value_or(0)});
  if (most > kMostBits) refuse(line);
}

bool is_choice(const SiteState& state, const DirectionsChoice& choice) {
  if (choice == DirectionsChoice()) return true;
  const auto most =
      state.directions ? static_cast<int>(state.directions->rests.size()) : ops::kMostDirections;
  return choice.count >= 1 && choice.count <= most && choice.bits >= 1 && choice.bits <= kMostBits;
}

/// root: its number.
SiteState read_site(const std::string& line, int64_t& root) {
  std::istringstream words(line);
  SiteState state;
  std::string storage, codec, other_bits, weight, sensitivity, error;
  int fixed = 0;
  Compressor::Site& site = state.site;
  words >> site.argument >> site.call >> storage >> codec >> state.bits >> site.count >>
      site.elements >> state.most_elements >> other_bits >> site.bytes_before >> site.bytes_after >>
      weight >> fixed >> state.coded_bits >> sensitivity;
  const std::optional<StorageKind> known = storage_of(storage);
  const std::optional<CodecKind> kind = codec_kind_of(codec);
  if (!words || !known || !kind) refuse(line);
  state.other_bits = parse_number(other_bits, "bits");
  state.save_policy = {*known, parse_number(weight, "weight")};
  state.sensitivity = parse_number(sensitivity, "sensitivity");
  if (fixed > 0) state.fixed = fixed;
  state.kind = *kind;
  std::vector<double> errors;
  while (errors.size() < kErrors && words >> error) {
    errors.push_back(parse_number(error, "error"));
  }
  std::string median, energy, ratio, floor, is_recomputed, is_asked_for, of_rest, directions;
  words >> median >> energy >> root >> ratio >> floor >> state.floor_bits >> is_recomputed >>
      is_asked_for >> state.recompute_path >> of_rest >> state.directions_choice.count >>
      state.directions_choice.bits >> state.coded_choice.count >> state.coded_choice.bits >>
      directions;
  std::getline(words >> std::ws, site.operation);
  if (errors.size() < kErrors || site.operation.empty()) refuse(line);
  state.median_share = parse_number(median, "median");
  state.energy_share = parse_number(energy, "energy");
  state.ratio = parse_number(ratio, "ratio");
  state.floor = parse_number(floor, "error");
  state.is_recomputed = is_recomputed == "recomputed";
  state.is_asked_for = is_asked_for == "asked";
  state.recompute_path = state.recompute_path == "-" ? "" : with(state.recompute_path, '_', ' ');
  if (errors[0] >= 0.0) state.errors = errors;
  state.directions = directions_of(directions);
  state.error_of_rest = parse_number(of_rest, "error");
  check_bits(state, line);
  if (!is_choice(state, state.directions_choice) || !is_choice(state, state.coded_choice)) {
    refuse(line);
  }
  return state;
}

SavedState read(const std::string& text, const Coder& coder) {
  std::istringstream lines(checked(text));
  std::string line;
  std::getline(lines, line);
  size_t count = 0;
  SavedState saved = read_header(line, count);
  std::vector<int64_t> roots;  // by number
  while (std::getline(lines, line)) {
    SiteState& state = saved.sites.emplace_back(read_site(line, roots.emplace_back(-1)));
    state.site.stored = stored_at(state, coder);
    const auto most = static_cast<size_t>(coder.most_directions());
    if (!state.directions || state.directions->rests.size() <= most) continue;
    state.directions.reset();
    state.directions_choice = {};
    saved.has_changed = true;
  }
  if (saved.sites.size() != count) {
    throw Error("ends after " + std::to_string(saved.sites.size()) + " of " +
                std::to_string(count) + " sites");
  }
  for (size_t i = 0; i < count; ++i) {
    const auto root = static_cast<size_t>(roots[i]);
    if (roots[i] >= 0 && root < count) saved.sites[i].root = key_of(saved.sites[root].site);
  }
  return saved;
}

}  // namespace

std::string text_of(const SiteTable& sites, uint64_t forwards) {
  std::ostringstream text;
  text << forwards << (sites.has_changed ? " changed " : " split ") << sites.all().size() << '\n';
  for (const SiteState& state : sites.all()) {
    const Compressor::Site& site = state.site;
    text << site.argument << ' ' << site.call << ' ' << name_of(state.save_policy.storage) << ' '
         << name_of(state.kind) << ' ' << state.bits << ' ' << site.count << ' ' << site.elements
         << ' ' << state.most_elements << ' ' << shortest(state.other_bits) << ' '
         << site.bytes_before << ' ' << site.bytes_after << ' '
         << shortest(state.save_policy.weight) << ' ' << state.fixed.value_or(0) << ' '
         << state.coded_bits << ' ' << shortest(state.sensitivity);
    for (size_t i = 0; i < kErrors; ++i) {
      text << ' ' << shortest(state.errors.empty() ? -1.0 : state.errors[i]);
    }
    text << ' ' << shortest(state.median_share) << ' ' << shortest(state.energy_share) << ' '
         << (state.root ? sites.number_of(*state.root) : -1) << ' ' << shortest(state.ratio) << ' '
         << shortest(state.floor) << ' ' << state.floor_bits << ' '
         << (state.is_recomputed ? "recomputed" : "coded") << ' '
         << (state.is_asked_for ? "asked" : "chosen") << ' '
         << (state.recompute_path.empty() ? "-" : with(state.recompute_path, ' ', '_')) << ' '
         << shortest(state.error_of_rest) << ' ' << state.directions_choice.count << ' '
         << state.directions_choice.bits << ' ' << state.coded_choice.count << ' '
         << state.coded_choice.bits << ' ' << text_of(state.directions);
    text << ' ' << site.operation << '\n';
  }
  const std::string rest = text.str();
  return with_digest(rest) + rest;
}

void write_state(const std::string& path, const std::string& text) {
  try {
    write_text_file(path, text);
  } catch (const Error& error) {
    TORCH_CHECK(false, "fewbit::Compressor::save: ", error.what());
  }
}

SavedState read_state(const std::string& path, const Coder& coder) {
  try {
    return read(read_text_file(path), coder);
  } catch (const Error& error) {
    TORCH_CHECK(false, "fewbit::Compressor::load: ", path, ": ", error.what());
  }
}

}  // namespace fewbit::session

#include "compression/directions_text.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

#include <ATen/ops/zeros.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace fewbit::session {

namespace {

constexpr std::string_view kNormalised = "normalised", kPlain = "plain";
constexpr std::string_view kDigits = "0123456789abcdef";

[[noreturn]] void refuse(const std::string& word) {
  throw Error("is no site of a compressor: directions '" + word.substr(0, 40) + "'");
}

/// Up to a mark, which is taken too; empty where there is none.
std::string_view taken(std::string_view& text, char mark) {
  const size_t end = text.find(mark);
  if (end == std::string_view::npos) return {};
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end + 1);
  return part;
}

/// -1: it is none.
int64_t number(std::string_view text) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

}  // namespace

std::string text_of(const SiteDirectionsPointer& directions) {
  if (!directions) return "-";
  const at::Tensor basis = directions->basis.cpu().contiguous();
  std::string text = std::to_string(basis.size(0)) + 'x' + std::to_string(directions->channels) +
                     'x' + std::string(directions->is_normalized ? kNormalised : kPlain) + ':';
  for (const double rest : directions->rests) text += shortest(rest) + ':';
  const auto* const elements = static_cast<const uint8_t*>(basis.const_data_ptr());
  for (int64_t row = 0; row < basis.size(0); ++row) {
    for (int64_t c = 0; c < directions->channels; ++c) {
      const uint8_t element = elements[row * basis.size(1) + c];
      text += {kDigits[element >> 4], kDigits[element & 0xF]};
    }
  }
  return text;
}

SiteDirectionsPointer directions_of(const std::string& word) {
  if (word == "-") return nullptr;
  std::string_view rest = word;
  const int64_t count = number(taken(rest, 'x')), channels = number(taken(rest, 'x'));
  const std::string_view what = taken(rest, ':');
  if (count < 1 || count > ops::kMostDirections || channels < count ||
      (what != kNormalised && what != kPlain)) {
    refuse(word);
  }
  SiteDirections directions{.channels = channels, .is_normalized = what == kNormalised};
  for (int64_t i = 0; i < count; ++i) {
    directions.rests.push_back(parse_number(std::string(taken(rest, ':')), "directions"));
    if (!(directions.rests.back() >= 0.0 && directions.rests.back() <= 1.0)) refuse(word);
  }
  const auto digits = static_cast<int64_t>(rest.size());
  if (digits / 2 / channels != count || digits != 2 * count * channels) refuse(word);
  directions.basis =
      at::zeros({count, ops::basis_stride(channels)}, at::kByte).view(at::kFloat8_e4m3fn);
  auto* const elements = static_cast<uint8_t*>(directions.basis.mutable_data_ptr());
  for (int64_t i = 0; i < count * channels; ++i) {
    const size_t high = kDigits.find(rest[2 * static_cast<size_t>(i)]);
    const size_t low = kDigits.find(rest[2 * static_cast<size_t>(i) + 1]);
    const bool is_finite = (high & 7) != 7 || low != 15;
    if (high == std::string_view::npos || low == std::string_view::npos || !is_finite) refuse(word);
    elements[i / channels * directions.basis.size(1) + i % channels] =
        static_cast<uint8_t>(high << 4 | low);
  }
  return std::make_shared<SiteDirections>(std::move(directions));
}

}  // namespace fewbit::session

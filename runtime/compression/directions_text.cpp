#include "compression/directions_text.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>

#include <ATen/ops/empty.h>

#include "base/error.hpp"

namespace fewbit::session {

namespace {

constexpr std::string_view kNormalised = "normalised", kPlain = "plain";
constexpr std::string_view kDigits = "0123456789abcdef";
constexpr size_t kDigitsOfElement = 4;

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
                     'x' + std::to_string(directions->bits) + 'x' +
                     std::string(directions->is_normalized ? kNormalised : kPlain) + '-';
  const auto* const elements = basis.const_data_ptr<at::BFloat16>();
  for (int64_t row = 0; row < basis.size(0); ++row) {
    for (int64_t c = 0; c < directions->channels; ++c) {
      const uint16_t element = elements[row * basis.size(1) + c].x;
      for (int shift = 12; shift >= 0; shift -= 4) text += kDigits[element >> shift & 0xF];
    }
  }
  return text;
}

SiteDirectionsPointer directions_of(const std::string& word) {
  if (word == "-") return nullptr;
  std::string_view rest = word;
  const int64_t count = number(taken(rest, 'x')), channels = number(taken(rest, 'x')),
                bits = number(taken(rest, 'x'));
  const std::string_view what = taken(rest, '-');
  const bool is_known = count >= 1 && count <= ops::kMostDirections && channels >= count &&
                        bits >= 1 && bits <= kMostBits && (what == kNormalised || what == kPlain);
  const auto digits = static_cast<int64_t>(rest.size() / kDigitsOfElement);
  if (!is_known || rest.size() % kDigitsOfElement != 0 || digits / channels != count ||
      digits % channels != 0) {
    refuse(word);
  }
  const at::Tensor rows = at::empty({count, channels}, at::kBFloat16);
  auto* const elements = rows.mutable_data_ptr<at::BFloat16>();
  for (int64_t i = 0; i < count * channels; ++i) {
    uint16_t element = 0;
    for (size_t j = 0; j < kDigitsOfElement; ++j) {
      const size_t digit = kDigits.find(rest[static_cast<size_t>(i) * kDigitsOfElement + j]);
      if (digit == std::string_view::npos) refuse(word);
      element = static_cast<uint16_t>(element << 4 | digit);
    }
    elements[i].x = element;
  }
  return std::make_shared<SiteDirections>(
      SiteDirections{ops::basis_of(rows), channels, static_cast<int>(bits), what == kNormalised});
}

}  // namespace fewbit::session

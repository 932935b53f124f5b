#include "cli/parse_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace fewbit::solver {

namespace {

constexpr std::array kForms{Form::intervals, Form::levels, Form::unbiased};
constexpr std::array kDataTypes{DataType::exact, DataType::fp32, DataType::bf16, DataType::fp16};

[[noreturn]] void refuse(std::string_view option, std::string_view seen,
                         std::string_view accepted) {
  throw UsageError(fmt::format("{}: '{}' is not accepted; expected {}", option, seen, accepted));
}

double number(std::string_view text, std::string_view option, std::string_view accepted) {
  try {
    return parse_number(text, option);
  } catch (const Error&) {
    refuse(option, text, accepted);
  }
}

/// The whole of `text` as a number from `lo` to `hi`.
std::optional<int> whole(std::string_view text, int lo, int hi) {
  int value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = status == std::errc{} && end == text.data() + text.size();
  return good && value >= lo && value <= hi ? std::optional(value) : std::nullopt;
}

/// "3", "1-4", "1,2,8": ascending, each once.
std::vector<int> sizes(std::string_view text, int lo, int hi, std::string_view option) {
  std::vector<int> values;
  for (const std::string& entry : split_list(text, option)) {
    const std::string_view part = entry;
    const size_t dash = part.find('-');
    const auto first = whole(part.substr(0, dash), lo, hi);
    const auto last = dash == part.npos ? first : whole(part.substr(dash + 1), lo, hi);
    if (!first || !last || *last < *first) {
      refuse(option, part,
             fmt::format("a whole number from {} to {}, a range such as 2-4, or a list such as 2,4",
                         lo, hi));
    }
    for (int value = *first; value <= *last; ++value) values.push_back(value);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

void set_objective_value(Objective& objective, std::string_view entry) {
  constexpr std::string_view kAccepted =
      "squared or smoothed[:tau=T,lambda=L] with 0 < T < 1 and L > 0";
  const size_t equals = entry.find('=');
  if (equals == std::string_view::npos) refuse("--objective", entry, kAccepted);
  const std::string_view name = entry.substr(0, equals);
  const double value = number(entry.substr(equals + 1), "--objective", kAccepted);
  if (name == "tau" && value > 0.0 && value < 1.0) {
    objective.tau = value;
  } else if (name == "lambda" && value > 0.0 && std::isfinite(value)) {
    objective.lambda = value;
  } else {
    refuse("--objective", entry, kAccepted);
  }
}

}  // namespace

std::vector<std::string> split_list(std::string_view text, std::string_view option) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end == begin) refuse(option, text, "a list without empty entries");
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> form_names() {
  std::vector<std::string> names;
  for (const Form form : kForms) names.emplace_back(to_string(form));
  return names;
}

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (const DataType dtype : kDataTypes) names.emplace_back(to_string(dtype));
  return names;
}

Form parse_form(std::string_view text) {
  for (const Form form : kForms) {
    if (text == to_string(form)) return form;
  }
  refuse("--form", text, "intervals, levels or unbiased");
}

DataType parse_dtype(std::string_view text) {
  for (const DataType dtype : kDataTypes) {
    if (text == to_string(dtype)) return dtype;
  }
  refuse("--dtype", text, "exact, fp32, bf16 or fp16");
}

Objective parse_objective(std::string_view text) {
  Objective objective;
  if (text == "squared") return objective;
  const std::string_view kind = text.substr(0, text.find(':'));
  if (kind != "smoothed") refuse("--objective", text, "squared or smoothed[:tau=0.83,lambda=1e-3]");
  objective.smoothed = true;
  if (kind.size() == text.size()) return objective;
  for (const auto& entry : split_list(text.substr(kind.size() + 1), "--objective")) {
    set_objective_value(objective, entry);
  }
  return objective;
}

Domain parse_domain(std::string_view text) {
  constexpr std::string_view kAccepted =
      "LO,HI: two numbers, LO below HI, such as -10,10 or -inf,inf";
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos) refuse("--domain", text, kAccepted);
  const Domain domain{number(text.substr(0, comma), "--domain", kAccepted),
                      number(text.substr(comma + 1), "--domain", kAccepted)};
  const double infinity = std::numeric_limits<double>::infinity();
  // Written so that NaN is refused.
  if (!(domain.lo < domain.hi) || domain.lo == infinity || domain.hi == -infinity) {
    refuse("--domain", text, kAccepted);
  }
  return domain;
}

void check_objective(std::string_view text, const WeightSpec& weight) {
  if (weight.units.empty() || text.find("tau=") == std::string_view::npos) return;
  throw UsageError(fmt::format(
      "--objective: '{}' names tau, but these samples tell {} apart and each unit's own spread "
      "takes its place; expected smoothed or smoothed:lambda=L",
      text, counted(weight.units.size(), "unit")));
}

std::vector<int> parse_bits_list(std::string_view text) {
  std::vector<int> levels = sizes(text, 1, 8, "--bits");
  for (int& value : levels) value = 1 << value;
  return levels;
}

std::vector<int> parse_levels_list(std::string_view text) {
  return sizes(text, 2, 256, "--levels");
}

bool is_list_of_sizes(std::string_view text) {
  return text.find_first_of(",-") != std::string_view::npos;
}

}  // namespace fewbit::solver

#include "cli/parse_options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace fewbit::solver {

namespace {

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

int whole(std::string_view text, int lo, int hi, std::string_view option) {
  int value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || value < lo || value > hi) {
    refuse(option, text, fmt::format("a whole number from {} to {}", lo, hi));
  }
  return value;
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

Form parse_form(std::string_view text) {
  for (const Form form : {Form::intervals, Form::levels, Form::unbiased}) {
    if (text == to_string(form)) return form;
  }
  refuse("--form", text, "intervals, levels or unbiased");
}

DataType parse_dtype(std::string_view text) {
  for (const DataType dtype : {DataType::exact, DataType::fp32, DataType::bf16, DataType::fp16}) {
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

int parse_bits(std::string_view text) {
  return 1 << whole(text, 1, 8, "--bits");
}

int parse_levels(std::string_view text) {
  return whole(text, 2, 256, "--levels");
}

std::vector<int> parse_bits_list(std::string_view text) {
  std::vector<int> levels;
  for (const auto& part : split_list(text, "--bits")) {
    const size_t dash = part.find('-');
    const int first = parse_bits(std::string_view(part).substr(0, dash));
    const int last =
        dash == std::string::npos ? first : parse_bits(std::string_view(part).substr(dash + 1));
    if (last < first) refuse("--bits", part, "bits such as 3, 1-4 or 1,2,4");
    for (int value = first; value <= last; value *= 2) levels.push_back(value);
  }
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  return levels;
}

}  // namespace fewbit::solver

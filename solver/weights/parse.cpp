#include "weights/parse.hpp"

#include <array>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "weights/histogram_file.hpp"
#include "weights/samples.hpp"
#include "weights/weight.hpp"

namespace fewbit::solver {

namespace {

struct Pair {
  std::string_view kind;
  std::array<std::string_view, 2> names;
  std::array<double, 2> defaults;
};

constexpr std::array kPairs = {Pair{"normal", {"mean", "sigma"}, {0.0, 1.0}},
                               Pair{"mixture", {"sigma_min", "sigma_max"}, {0.0625, 4.0}}};

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> fields;
  for (size_t comma = text.find(','); comma != std::string_view::npos; comma = text.find(',')) {
    fields.push_back(text.substr(0, comma));
    text.remove_prefix(comma + 1);
  }
  fields.push_back(text);
  return fields;
}

WeightSpec parse_pair(const Pair& pair, std::string_view fields, bool given) {
  WeightSpec spec;
  spec.kind = pair.kind;
  auto values = pair.defaults;
  if (given) {
    const auto parts = split_at_commas(fields);
    if (parts.size() != values.size()) {
      throw Error("weight " + spec.kind + ": got " + std::to_string(parts.size()) +
                  " values, accepted is " + spec.kind + ":" + std::string(pair.names[0]) + "," +
                  std::string(pair.names[1]));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = parse_number(parts[i], "weight " + spec.kind + ": " + std::string(pair.names[i]));
    }
  }
  for (size_t i = 0; i < values.size(); ++i) {
    spec.parameters.emplace_back(pair.names[i], values[i]);
  }
  make_weight(spec);
  return spec;
}

std::string file_name(std::string_view kind, std::string_view rest) {
  if (!rest.empty()) return std::string(rest);
  throw UsageError("weight " + std::string(kind) + ": needs a file, as in " + std::string(kind) +
                   ":FILE");
}

}  // namespace

WeightSpec parse_weight(std::string_view text) {
  const size_t colon = text.find(':');
  const bool given = colon != std::string_view::npos;
  const std::string_view kind = text.substr(0, colon);
  const std::string_view rest = given ? text.substr(colon + 1) : std::string_view{};
  for (const Pair& pair : kPairs) {
    if (kind != pair.kind) continue;
    try {
      return parse_pair(pair, rest, given);
    } catch (const Error& error) {
      throw UsageError(error.what());
    }
  }
  if (kind == "histogram") return read_histogram_file(file_name(kind, rest));
  if (kind == "samples") return read_samples_file(file_name(kind, rest));
  if (kind != "uniform") throw UsageError(unknown_weight(kind));
  if (given) throw UsageError("weight uniform: takes no values, got '" + std::string(rest) + "'");
  return {};
}

std::string unknown_weight(std::string_view kind) {
  const std::vector<std::string> kinds = {"uniform", "normal", "mixture", "histogram", "samples"};
  std::string message = "unknown weight '" + std::string(kind) + "'";
  std::string nearest;
  for (const auto& name : nearest_names(kind, kinds))
    nearest += (nearest.empty() ? "" : ", ") + name;
  if (!nearest.empty()) message += ", nearest: " + nearest;
  return message +
         "; accepted: uniform, normal:MEAN,SIGMA, mixture:MIN,MAX, histogram:FILE, samples:FILE";
}

}  // namespace fewbit::solver

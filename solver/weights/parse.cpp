#include "weights/parse.hpp"

#include <array>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "weights/histogram_file.hpp"
#include "weights/samples.hpp"
#include "weights/weight.hpp"

namespace fewbit::solver {

namespace {

/// A kind that takes numbers, and what they are where none is given.
struct Density {
  std::string_view kind;
  std::vector<NamedValue> parameters;
};

const std::array<Density, 4> kDensities = {{
    {"normal", {{"mean", 0.0}, {"sigma", 1.0}}},
    {"mixture", {{"sigma_min", 0.0625}, {"sigma_max", 4.0}}},
    {"laplace", {{"mean", 0.0}, {"scale", 1.0}}},
    {"student-t", {{"mean", 0.0}, {"scale", 1.0}, {"degrees", 3.0}}},
}};

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> fields;
  for (size_t comma = text.find(','); comma != std::string_view::npos; comma = text.find(',')) {
    fields.push_back(text.substr(0, comma));
    text.remove_prefix(comma + 1);
  }
  fields.push_back(text);
  return fields;
}

WeightSpec parse_density(const Density& density, std::string_view fields, bool given) {
  WeightSpec spec;
  spec.kind = density.kind;
  spec.parameters = density.parameters;
  if (given) {
    const auto parts = split_at_commas(fields);
    if (parts.size() != spec.parameters.size()) {
      std::string names;
      for (const auto& [name, value] : spec.parameters) names += (names.empty() ? "" : ",") + name;
      throw Error("weight " + spec.kind + ": got " + std::to_string(parts.size()) +
                  (parts.size() == 1 ? " value" : " values") + ", accepted is " + spec.kind + ":" +
                  names);
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      auto& [name, value] = spec.parameters[i];
      value = parse_number(parts[i], "weight " + spec.kind + ": " + name);
    }
  }
  make_weight(spec);
  return spec;
}

std::string file_name(std::string_view kind, std::string_view rest) {
  if (!rest.empty()) return std::string(rest);
  throw UsageError("weight " + std::string(kind) + ": needs a file, as in " + std::string(kind) +
                   ":FILE");
}

constexpr std::string_view kSamples = "samples";

bool is_samples(std::string_view text) {
  return text.substr(0, text.find(':')) == kSamples;
}

/// The names of sample files, none where the weight is another one.
std::vector<std::string> sample_files(const std::vector<std::string>& weights) {
  std::vector<std::string> files;
  for (const std::string& weight : weights) {
    if (!is_samples(weight)) continue;
    const size_t colon = weight.find(':');
    const bool given = colon != std::string::npos;
    files.push_back(file_name(kSamples, given ? std::string_view(weight).substr(colon + 1) : ""));
  }
  if (weights.size() > 1 && files.size() < weights.size()) {
    throw UsageError("several weights: only samples:FILE may be given more than once");
  }
  return files;
}

double parse_clip(const std::string& text) {
  if (text.empty()) return 1.0;
  double clip = 0.0;
  try {
    clip = parse_number(text, "--clip");
  } catch (const Error&) {
    clip = 0.0;
  }
  if (clip > 0.5 && clip <= 1.0) return clip;
  throw UsageError("--clip: '" + text +
                   "' is not accepted; expected a quantile above 0.5, up to 1, "
                   "such as 0.999");
}

std::optional<SampleFormat> parse_format(const std::string& text) {
  if (text.empty()) return {};
  try {
    return parse_sample_format(text);
  } catch (const Error& error) {
    throw UsageError(std::string("--") + error.what());
  }
}

WeightSpec parse_one(std::string_view text) {
  const size_t colon = text.find(':');
  const bool given = colon != std::string_view::npos;
  const std::string_view kind = text.substr(0, colon);
  const std::string_view rest = given ? text.substr(colon + 1) : std::string_view{};
  for (const Density& density : kDensities) {
    if (kind != density.kind) continue;
    try {
      return parse_density(density, rest, given);
    } catch (const Error& error) {
      throw UsageError(error.what());
    }
  }
  if (kind == "histogram") return read_histogram_file(file_name(kind, rest));
  if (kind != "uniform") throw UsageError(unknown_weight(kind));
  if (given) throw UsageError("weight uniform: takes no values, got '" + std::string(rest) + "'");
  return {};
}

}  // namespace

ParsedWeight parse_weight(const WeightArguments& arguments) {
  const double clip = parse_clip(arguments.clip);
  const auto format = parse_format(arguments.sample_format);
  const auto files = sample_files(arguments.weights);
  ParsedWeight weight;
  if (!files.empty()) {
    weight.samples = std::make_shared<Samples>(files, format);
    FittedSamples fitted = fit_samples(*weight.samples, clip);
    weight.spec = std::move(fitted.weight);
    weight.values = std::move(fitted.values);
    weight.summary = fitted.summary;
    return weight;
  }
  for (const auto& [option, value] : {std::pair{"--clip", &arguments.clip},
                                      std::pair{"--sample-format", &arguments.sample_format}}) {
    if (!value->empty()) throw UsageError(std::string(option) + ": needs --weight samples:FILE");
  }
  if (!arguments.weights.empty()) weight.spec = parse_one(arguments.weights.front());
  return weight;
}

WeightSpec parse_weight(std::string_view text) {
  return parse_weight(WeightArguments{{std::string(text)}, {}, {}}).spec;
}

std::string unknown_weight(std::string_view kind) {
  const std::vector<std::string> kinds = {"uniform",   "normal",    "mixture", "laplace",
                                          "student-t", "histogram", "samples"};
  std::string message = "unknown weight '" + std::string(kind) + "'";
  std::string nearest;
  for (const auto& name : nearest_names(kind, kinds))
    nearest += (nearest.empty() ? "" : ", ") + name;
  if (!nearest.empty()) message += ", nearest: " + nearest;
  return message +
         "; accepted: uniform, normal:MEAN,SIGMA, mixture:MIN,MAX, laplace:MEAN,SCALE, "
         "student-t:MEAN,SCALE,DEGREES, histogram:FILE, samples:FILE";
}

}  // namespace fewbit::solver

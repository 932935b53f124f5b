#include <exception>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/text.hpp"
#include "trellis/trellis.hpp"

namespace fewbit::solver {

namespace {

std::string object_of(const TrellisQuantizer& quantizer) {
  std::string levels;
  for (const double level : quantizer.levels) {
    levels += (levels.empty() ? "" : ", ") + shortest(level);
  }
  return fmt::format(
      "  {{\n    \"bits\": {},\n    \"states\": {},\n    \"levels\": [{}],\n"
      "    \"error\": {}\n  }}",
      quantizer.bits, quantizer.states, levels, shortest(quantizer.error));
}

TrellisQuantizer quantizer_from(const nlohmann::json& object) {
  if (object.size() != 4) throw Error("an entry has other keys than bits, states, levels, error");
  TrellisQuantizer quantizer{object.at("bits").get<int>(), object.at("states").get<int>(),
                             object.at("levels").get<std::vector<double>>(),
                             object.at("error").get<double>()};
  if (quantizer.bits < 1 || quantizer.bits > kMostTrellisBits) {
    throw Error(fmt::format("{} bits: 1 to {} are known", quantizer.bits, kMostTrellisBits));
  }
  if (quantizer.states != 4 && quantizer.states != 8) {
    throw Error(fmt::format("{} states: 4 and 8 are known", quantizer.states));
  }
  const size_t count = quantizer.levels.size();
  if (count != size_t{2} << quantizer.bits) {
    throw Error(fmt::format("{} levels for {} bits", count, quantizer.bits));
  }
  for (size_t j = 0; j < count; ++j) {
    if (quantizer.levels[j] != -quantizer.levels[count - 1 - j] ||
        (j > 0 && !(quantizer.levels[j - 1] < quantizer.levels[j]))) {
      throw Error(
          fmt::format("the levels of {} bits are not ascending and symmetric", quantizer.bits));
    }
  }
  return quantizer;
}

}  // namespace

std::string to_json(const std::vector<TrellisQuantizer>& quantizers) {
  std::string text = "[\n";
  for (const TrellisQuantizer& quantizer : quantizers) {
    text += object_of(quantizer) + (&quantizer == &quantizers.back() ? "\n" : ",\n");
  }
  return text + "]\n";
}

std::vector<TrellisQuantizer> trellises_from_json(std::string_view text, const std::string& file) {
  try {
    std::vector<TrellisQuantizer> quantizers;
    for (const auto& object : nlohmann::json::parse(text)) {
      quantizers.push_back(quantizer_from(object));
    }
    return quantizers;
  } catch (const std::exception& fault) {
    throw Error(fmt::format("holds no trellis quantisers: {}", fault.what()), file);
  }
}

}  // namespace fewbit::solver

#include "codegen/trellis_quantizer.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "codegen/literal.hpp"
#include "codegen/templates.hpp"

namespace fewbit::codegen {

namespace {

using solver::kMostTrellisBits;
using solver::TrellisQuantizer;

std::string name_of(const TrellisQuantizer& trellis) {
  return fmt::format("kLevels{}Of{}", trellis.bits, trellis.states);
}

std::string array_of(const TrellisQuantizer& trellis) {
  std::vector<std::string> items;
  for (const double level : trellis.levels) {
    items.push_back(decimal_literal(static_cast<float>(level)));
  }
  return fmt::format("inline constexpr float {}[] = {{\n{}}};\n", name_of(trellis),
                     comma_list(items, 4));
}

std::string entry_of(const TrellisQuantizer& trellis) {
  return fmt::format("    {{{}, {}, {}, {}}},\n", trellis.bits, trellis.states, name_of(trellis),
                     double_literal(trellis.error));
}

}  // namespace

Files trellis_quantizer_files(const std::vector<TrellisQuantizer>& trellises) {
  if (trellises.empty()) return {};
  std::string arrays;
  std::string entries;
  size_t i = 0;
  for (const int states : {4, 8}) {
    for (int bits = 1; bits <= kMostTrellisBits; ++bits, ++i) {
      if (i >= trellises.size() || trellises[i].bits != bits || trellises[i].states != states) {
        throw Error(fmt::format("there is no trellis of {} states and {} bits where it should be",
                                states, bits));
      }
      arrays += array_of(trellises[i]);
      entries += entry_of(trellises[i]);
    }
  }
  return {{"trellis_quantizer.hpp",
           render("trellis_quantizer.in", {{"NAME", solver::kTrellisFile},
                                           {"MOST_BITS", std::to_string(kMostTrellisBits)},
                                           {"ARRAYS", arrays},
                                           {"ENTRIES", entries}})}};
}

}  // namespace fewbit::codegen

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "table/table.hpp"
#include "weights/samples.hpp"

namespace fewbit::solver {

/// What the command line says of the weight, as it stands there.
struct WeightArguments {
  std::vector<std::string> weights;  ///< of every --weight; several where all are samples
  std::string sample_format;         ///< of --sample-format; empty: not given
  std::string clip;                  ///< of --clip; empty: not given
};

struct ParsedWeight {
  WeightSpec spec;
  std::optional<WeightSpec> values;  ///< of samples, where few of them differ (FittedSamples)
  std::shared_ptr<Samples> samples;  ///< what it was made from, to be gone over again; or nothing
  SampleSummary summary;             ///< of them

  /// The values where there are few. The smoothed objective needs a density.
  const WeightSpec& weight_for(const Objective& objective) const {
    return values && !objective.smoothed ? *values : spec;
  }
};

/// Reads the `--weight` argument:
///   uniform | normal[:mean,sigma] | mixture[:sigma_min,sigma_max] | laplace[:mean,scale] |
///   student-t[:mean,scale,degrees] | histogram:FILE | samples:FILE
/// "normal" and "laplace" alone are 0,1, "mixture" 0.0625,4 and "student-t" 0,1,3. Files are read
/// here; `samples`, of one file or of several such arguments, become a histogram. Throws UsageError
/// where the text is wrong, Error where a file is (see histogram_file.hpp, samples.hpp). What it
/// returns, make_weight accepts.
ParsedWeight parse_weight(const WeightArguments& arguments);
WeightSpec parse_weight(std::string_view text);

/// The message for a kind that does not exist, with the nearest names.
std::string unknown_weight(std::string_view kind);

}  // namespace fewbit::solver

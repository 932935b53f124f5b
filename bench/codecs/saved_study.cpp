#include <algorithm>
#include <cstdio>

#include <ATen/ATen.h>

#include "bench/codecs/draws.hpp"
#include "bench/codecs/forms.hpp"
#include "bench/codecs/studies.hpp"

namespace fewbit::bench {

namespace {

using examples::number;

Draws draws_of(const Form& form, const at::Tensor& run, int64_t count) {
  Draws draws;
  for (int64_t draw = 0; draw < count; ++draw) {
    draws.add(form.decoded(run, stream(1, draw)).sub_(run));
  }
  return draws;
}

struct Range {
  double least = 1e300, greatest = -1e300;

  void take(double value) {
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  std::string text() const { return number(least) + " to " + number(greatest); }
};

/// Of all runs in so many bits.
struct Short {
  Range ratio, one_more;
  Range biases[3];  ///< squared, over squared error, by codec
};

/// Of one run in so many bits.
void add_rows(const SavedRun& run, int bits, int64_t count, SavedSheets& result, Short& in_short) {
  const double energy = energy_of(run.run);
  std::vector<double> errors, shares;
  std::vector<std::string> biases{run.model, run.kind, std::to_string(bits)};
  for (const Form& form : {grouped(bits, "stochastic"), rotated(bits, 0), rotated(bits, 4),
                           grouped(bits, "squares")}) {
    const Draws draws = draws_of(form, run.run, count);
    const double error = draws.squared_error();
    errors.push_back(error / energy);
    result.worst_deviation =
        std::max(result.worst_deviation, draws.squared_error_deviation() / error);
    shares.push_back(draws.squared_bias() / error);
    biases.push_back(number(shares.back(), 2));
    biases.push_back(number(draws.bias_z(), 2));
  }
  const double one_more =
      grouped_variance(run.run, bits + 1, "stochastic").sum().item<double>() / energy;
  result.errors.rows.push_back({run.model, run.kind, std::to_string(bits), number(errors[0]),
                                number(errors[1]), number(errors[2]), number(errors[3]),
                                number(errors[0] / errors[1]), number(errors[0] / errors[2]),
                                number(one_more / errors[2])});
  result.biases.rows.push_back(biases);
  if (run.kind.ends_with("probabilities")) return;
  in_short.ratio.take(errors[0] / errors[2]);
  in_short.one_more.take(one_more / errors[2]);
  for (size_t i = 0; i < 3; ++i) in_short.biases[i].take(shares[i]);
}

}  // namespace

SavedSheets study_saved(const std::vector<SavedRun>& runs, int64_t draws) {
  SavedSheets result;
  result.errors = {"Squared error over energy",
                   {"model", "saved", "bits", "group", "rotated", "rotated, 4 states", "squares",
                    "group / rotated", "group / 4 states", "group, 1 bit more / 4 states"},
                   {}};
  result.biases = {"Squared bias over squared error",
                   {"model", "saved", "bits", "group", "z", "rotated", "z of rotated",
                    "rotated, 4 states", "z of 4 states", "squares", "z of squares"},
                   {}};
  result.in_short = {"In short, probabilities left out",
                     {"bits", "group / 4 states", "group, 1 bit more / 4 states",
                      "greatest bias^2 / error: group", "rotated", "rotated, 4 states"},
                     {}};
  Short by_bits[4];
  for (const SavedRun& run : runs) {
    for (int bits = 1; bits <= 4; ++bits) add_rows(run, bits, draws, result, by_bits[bits - 1]);
    std::fprintf(stderr, "%s: %s\n", run.model.c_str(), run.kind.c_str());
  }
  for (int bits = 1; bits <= 4; ++bits) {
    const Short& one = by_bits[bits - 1];
    result.in_short.rows.push_back({std::to_string(bits), one.ratio.text(), one.one_more.text(),
                                    number(one.biases[0].greatest, 2),
                                    number(one.biases[1].greatest, 2),
                                    number(one.biases[2].greatest, 2)});
  }
  return result;
}

}  // namespace fewbit::bench

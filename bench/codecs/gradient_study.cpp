#include "bench/codecs/gradient_study.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace fewbit::bench {

namespace {

using examples::number;
using examples::Sheet;

std::string name_of(Scheme scheme) {
  return scheme == Scheme::rotated ? "rotated" : "group";
}

/// What every row of a coding begins with.
std::vector<std::string> first_cells(const std::string& model, const Coding& coding) {
  return {model, name_of(coding.scheme), std::to_string(coding.bits)};
}

double ratio_of(const ParameterNoise& noise) {
  return noise.draws.squared_error() / *noise.predicted;
}

void extend(std::vector<std::string>& row, const std::vector<std::string>& cells) {
  row.insert(row.end(), cells.begin(), cells.end());
}

/// Linear layers and convolutions alone are coded: prediction and measurement are the same thing.
void add_products(const TrainedSubject& trained, const Coding& coding, const GradientNoise& noise,
                  GradientSheets& sheets) {
  std::vector<double> ratios, bias_z;
  for (const ParameterNoise& one : noise.parameters) {
    if (!one.predicted) continue;
    const double ratio = ratio_of(one);
    const double deviation = one.draws.squared_error_deviation() / *one.predicted;
    ratios.push_back(ratio);
    bias_z.push_back(one.draws.bias_z());
    std::vector<std::string> row = first_cells(trained.name, coding);
    extend(row,
           {one.name, number(*one.predicted / one.energy),
            number(one.draws.squared_error() / one.energy), number(ratio, 4), number(deviation, 2),
            number(one.draws.squared_bias() / one.energy, 2), number(one.draws.bias_z(), 2)});
    sheets.layers.rows.push_back(row);
  }
  std::vector<std::string> row = first_cells(trained.name, coding);
  extend(
      row,
      {number(noise.all.draws.squared_error() / noise.all.energy), number(ratio_of(noise.all), 4),
       number(noise.all.draws.squared_error_deviation() / *noise.all.predicted, 2),
       number(*std::ranges::min_element(ratios), 4), number(*std::ranges::max_element(ratios), 4),
       number(noise.all.draws.bias_z(), 2), number(*std::ranges::max_element(bias_z), 2)});
  sheets.ratios.rows.push_back(row);
}

std::vector<std::string> bias_cells(const ParameterNoise& noise) {
  const double bias = noise.draws.squared_bias();
  return {number(std::sqrt(std::max(0.0, bias) / noise.energy), 2),
          number(bias / noise.draws.squared_error(), 2), number(noise.draws.bias_z(), 2)};
}

/// Everything is coded.
void add_all(const TrainedSubject& trained, const Coding& coding, const GradientNoise& noise,
             bool by_parameter, GradientSheets& sheets) {
  std::vector<std::string> total = first_cells(trained.name, coding);
  extend(total,
         {std::to_string(coding.activation_bits), coding.exact_attention ? "exact" : "coded",
          number(noise.all.draws.squared_error() / noise.all.energy), number(ratio_of(noise.all))});
  extend(total, bias_cells(noise.all));
  sheets.totals.rows.push_back(total);
  if (!by_parameter) return;
  for (const ParameterNoise& one : noise.parameters) {
    std::vector<std::string> row = first_cells(trained.name, coding);
    extend(row, {one.name, number(one.draws.squared_error() / one.energy),
                 one.predicted ? number(ratio_of(one)) : "-"});
    extend(row, bias_cells(one));
    sheets.parameters.rows.push_back(row);
  }
}

GradientSheets empty_sheets() {
  GradientSheets sheets;
  sheets.ratios = {
      "Measured over predicted, inputs of linear layers and convolutions coded",
      {"model", "scheme", "bits", "noise of all", "measured / predicted", "standard error",
       "least of a layer", "greatest", "z of bias", "greatest z of bias"},
      {}};
  sheets.layers = {"The same by layer",
                   {"model", "scheme", "bits", "weight", "predicted", "measured",
                    "measured / predicted", "standard error", "squared bias", "z of bias"},
                   {}};
  sheets.totals = {"Everything coded",
                   {"model", "scheme", "bits", "GELU bits", "attention", "noise of all",
                    "of predicted", "relative bias", "bias^2 / noise", "z of bias"},
                   {}};
  sheets.parameters = {"Everything coded, by parameter, GELU in 8 bits",
                       {"model", "scheme", "bits", "parameter", "noise", "of predicted",
                        "relative bias", "bias^2 / noise", "z of bias"},
                       {}};
  return sheets;
}

void study(const TrainedSubject& trained, Scheme scheme, int64_t draws, GradientSheets& sheets) {
  for (int bits = 1; bits <= 4; ++bits) {
    const Coding alone{scheme, bits, 0};
    add_products(trained, alone, measure(trained, alone, draws), sheets);
    const bool by_parameter = scheme == Scheme::rotated && bits % 2 == 0;
    const Coding all{scheme, bits, 8};
    add_all(trained, all, measure(trained, all, draws), by_parameter, sheets);
    const Coding with_table{scheme, bits, 3};
    add_all(trained, with_table, measure(trained, with_table, draws), false, sheets);
    if (trained.name == "transformer") {
      const Coding no_attention{scheme, bits, 8, true};
      add_all(trained, no_attention, measure(trained, no_attention, draws), false, sheets);
    }
    std::fprintf(stderr, "%s: %s, bits: %d\n", trained.name.c_str(), name_of(scheme).c_str(), bits);
  }
}

}  // namespace

GradientSheets study_gradients(const std::vector<std::string>& models, int64_t steps,
                               int64_t draws) {
  GradientSheets sheets = empty_sheets();
  for (const std::string& model : models) {
    const TrainedSubject trained = train_subject(model, steps);
    for (const Scheme scheme : {Scheme::rotated, Scheme::group}) {
      study(trained, scheme, draws, sheets);
    }
  }
  return sheets;
}

}  // namespace fewbit::bench

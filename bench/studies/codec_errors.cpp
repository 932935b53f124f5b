// What codecs of saved tensors err: on Gaussian runs beside the closed forms, beside an outlier,
// and on what operations of trained models save. Errors, then biases, out of many draws. Prints
// Markdown; --out writes codecs.html, .md and .json.
#include <functional>
#include <memory>

#include <ATen/Parallel.h>
#include <CLI/CLI.hpp>

#include "bench/codecs/show.hpp"
#include "bench/codecs/studies.hpp"
#include "bench/studies/studies.hpp"

namespace fewbit::bench::codec_errors_study {

namespace {

constexpr int64_t kMapDraws = 20;
constexpr int64_t kActivated = 1 << 14, kActivatedDraws = 200;

struct Options {
  std::vector<std::string> models = models_of_runs();
  int64_t groups = 20000;
  int64_t draws = 2000;
  int64_t steps = 400;
  std::string folder;
};

void run(const Options& options) {
  const std::string groups = std::to_string(options.groups), draws = std::to_string(options.draws);
  examples::Page page("Errors of the codecs");
  page.add(
      "`scripts/bench codec_errors --out bench/results`. Standard errors are those of the measured "
      "mean; z is a difference from what is expected in units of them.");
  show(
      page, rotated_on_gaussians(options.groups),
      "Of " + groups +
          " groups, a quarter as many long ones: squared error over the group's energy, its mean "
          "left out. Closed form: D / (1 - D), D the squared error of the table for N(0, 1), or of "
          "the trellis for runs of 256. Elements of a group have its energy exactly, which those "
          "of N(0, 1) have in the mean: that is a term of the order of 1 / group. The factor is "
          "kept in bf16, which shows at 8 bits.");
  show(page, grouped_on_gaussians(options.groups),
       "Of " + groups +
           " groups, over the variance of an element. Expected: the design's figures. Closed form, "
           "of every element by the constants that are kept: stochastic f (1 - f) step^2, f the "
           "fraction of a step; dithered and nearest step^2 / 12, which for nearest holds for "
           "small steps alone. z is of the differences by group.");
  show(page, slopes_beside_an_outlier(options.draws),
       "Slope of the 255 others, decoded, on what they were, in " + draws +
           " draws: 1 without bias.");
  show(page, spread_of_errors(options.groups / 10),
       "Share of the squared error on those elements of a group that have all the energy, Gaussian "
       "ones: turned twice, a group's error spreads evenly wherever its energy lies.");
  show(page, outputs_by_class(kActivated, kActivatedDraws),
       "What activations make of " + std::to_string(kActivated) + " numbers from N(0, 1), in " +
           std::to_string(kActivatedDraws) +
           " draws: squared error over energy of rotated codes, and of rotated codes of what is "
           "left where the activation's own codes, which are kept anyway, tell the class of each; "
           "groups "
           "of 256. Expected: D / (1 - D) times the square of the mean deviation within a class. "
           "Bias by class in standard errors of what would be measured without one.");
  const std::vector<SavedRun> runs = saved_runs(options.models, options.steps);
  const SavedSheets saved = study_saved(runs, options.draws);
  show(page, saved.errors,
       "Models of the examples after " + std::to_string(options.steps) +
           " steps; of what operations of one kind save in a forward, the first 2^14 elements, in "
           "equal parts from all layers, groups of 256, " +
           draws + " draws. Standard errors are up to " +
           examples::number(100.0 * saved.worst_deviation, 2) + " % of the figures.");
  show(page, saved.biases,
       "Of the same draws, less what " + draws +
           " draws leave of the noise, so that it may be below 0. z: in standard errors of what "
           "would be measured without bias.");
  show(page, saved.in_short, "Least to greatest over what is saved.");
  show(
      page, low_frequencies_apart(runs, kMapDraws),
      "Of the same models, the first layer's maps of each kind: means of square blocks in bf16 and "
      "rotated codes of what is left, beside rotated codes of all, in as many bits; squared errors "
      "over energy, " +
          std::to_string(kMapDraws) +
          " draws, between whole bits on the line of the logarithms. Groups keep their means as "
          "it is.");
  if (!options.folder.empty()) page.write(options.folder, "codecs");
}

}  // namespace

Study command(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.description(
      "Errors of the codecs against theory, and on what trained models save.\n"
      "Example: scripts/bench codec_errors --models cnn --draws 200");
  app.add_option("--models", options->models, "transformer; cnn; cnn, ReLU; encoder")
      ->check(CLI::IsMember(models_of_runs()));
  app.add_option("--groups", options->groups, "of Gaussian runs")->check(CLI::PositiveNumber);
  app.add_option("--draws", options->draws, "of every saved tensor")
      ->check(CLI::Range(10, 1000000));
  app.add_option("--steps", options->steps, "of training before")->check(CLI::PositiveNumber);
  app.add_option("--out", options->folder, "folder for the page");
  return [options] {
    at::set_num_threads(1);
    run(*options);
    return 0;
  };
}

}  // namespace fewbit::bench::codec_errors_study

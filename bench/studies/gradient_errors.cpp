// Noise and bias of gradients with coded tensors: predicted from the codec's variance, and measured
// over many forward and backward passes of one batch of trained models. Prints Markdown; --out
// writes gradients.html, .md and .json.
#include <functional>
#include <memory>

#include <ATen/Parallel.h>
#include <CLI/CLI.hpp>

#include "bench/codecs/gradient_study.hpp"
#include "bench/codecs/show.hpp"
#include "bench/studies/studies.hpp"

namespace fewbit::bench::gradient_errors_study {

namespace {

struct Options {
  std::vector<std::string> models{"transformer", "cnn"};
  int64_t draws = 300;
  int64_t steps = 400;
  std::string folder;
};

void run(const Options& options) {
  const GradientSheets sheets = study_gradients(options.models, options.steps, options.draws);
  examples::Page page("Noise and bias of gradients");
  page.add(
      "`scripts/bench gradient_errors --out bench/results`. Models of the examples after " +
      std::to_string(options.steps) + " steps, one batch, " + std::to_string(options.draws) +
      " forward and backward passes in scopes, groups of 256, every place in the same bits. "
      "Noise: mean of |g - exact|^2 over |exact|^2. Squared bias: of the mean gradient, less what "
      "so many passes leave of the noise, so that it may be below 0; z: in standard errors of "
      "what would be measured without bias.");
  page.add(
      "Prediction: dW = sum_t dy_t x_t is linear in x, and dy is exact. An element of x with an "
      "error of variance v adds v |dy_t|^2 to the mean of |dW - exact|^2 (in a convolution, v "
      "times "
      "the sum of dy^2 over all that it is multiplied by), and errors of different elements add up "
      "without products. Rotation spreads a group's error evenly over its 256 elements in "
      "memory, whichever rows they are of: v = e |x - m|^2 / 256, with m the group's mean and e = "
      "D / (1 - D) from the book, nothing fitted. Steps between least and greatest: v = f (1 - f) "
      "step^2.");
  show(page, sheets.ratios,
       "All else exact: attention, norms, softmax, GELU. Least and greatest: of the layers' own "
       "ratios. Rotated groups of 256 err about a percent less than the closed form: codecs.md.");
  show(page, sheets.layers, "Predicted, measured, squared bias: over |exact|^2 of the weight.");
  show(
      page, sheets.totals,
      "Every site coded by rule(\"*\"). Of predicted: noise over what the inputs of linear layers "
      "and convolutions alone would give, so that it shows what errors of dy add. Attention: its "
      "queries, keys and values, in which the gradient is not linear. GELU's derivative comes from "
      "a table: an error that is the same in every pass, that is a bias.");
  show(page, sheets.parameters, "As above; predicted: of weights alone.");
  if (!options.folder.empty()) page.write(options.folder, "gradients");
}

}  // namespace

Study command(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.description(
      "Noise and bias of gradients with coded tensors, predicted and measured.\n"
      "Example: scripts/bench gradient_errors --models cnn --draws 50");
  app.add_option("--models", options->models, "transformer cnn")
      ->check(CLI::IsMember({"transformer", "cnn"}));
  app.add_option("--draws", options->draws, "forward and backward passes of each setting")
      ->check(CLI::Range(10, 100000));
  app.add_option("--steps", options->steps, "of training before")->check(CLI::PositiveNumber);
  app.add_option("--out", options->folder, "folder for the page");
  return [options] {
    at::set_num_threads(1);
    run(*options);
    return 0;
  };
}

}  // namespace fewbit::bench::gradient_errors_study

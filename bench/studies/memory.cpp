// What well-known networks keep for backward, exact and coded, a picture or sequence: counted, not
// estimated, of one forward on the CPU. Prints Markdown; --out writes memory.html, .md and .json
// after every network, from which --resume goes on.
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>
#include <CLI/CLI.hpp>
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include "bench/studies/compressor_setup.hpp"
#include "bench/studies/kept_rows.hpp"
#include "bench/studies/studies.hpp"
#include "examples/models/catalogue.hpp"
#include "examples/support/page.hpp"
#include "fewbit/saved_bytes.hpp"

namespace fewbit::bench::memory_study {

namespace {

struct Options {
  std::vector<std::string> models{"resnet50",      "resnet152",      "wide_resnet50_2",
                                  "vgg11",         "densenet121",    "vit_small_16",
                                  "bert_base_128", "bert_large_128", "gpt"};
  std::vector<std::string> stored;  ///< names of setups(); empty: all
  int64_t batch = 2;
  bool measures_errors = false, resumes = false;
  std::string folder;
};

constexpr const char* kTitle = "Bytes kept for backward";
const std::string kOurs = "rotated, ";

std::vector<CompressorSetup> setups() {
  std::vector<CompressorSetup> all;
  for (const double bits : {4.0, 2.0}) {
    const std::string width = examples::number(bits) + " bits";
    all.push_back({"group, " + width, {.bits = bits, .scheme = Scheme::group}});
  }
  for (const int level : {1, 2, 3}) {
    all.push_back({"actnn, level " + std::to_string(level),
                   {.bits = 2, .scheme = Scheme::actnn, .level = level}});
  }
  all.push_back({"actnn, level 3, 3 bits", {.bits = 3, .scheme = Scheme::actnn, .level = 3}});
  all.push_back({"gact, 4 bits", {.bits = 4, .scheme = Scheme::gact}});
  all.push_back({"division, 2 bits", {.bits = 2, .scheme = Scheme::division}});
  for (const double bits : {4.0, 2.0}) {
    all.push_back(
        {"blpa, " + examples::number(bits) + " bits", {.bits = bits, .scheme = Scheme::blpa}});
  }
  const auto add = [&](double bits, int trellis, bool again) {
    std::string name = kOurs + examples::number(bits) + (bits == 1.0 ? " bit" : " bits");
    if (trellis > 0) name += ", trellis";
    if (again) name += ", layers recomputed";
    all.push_back({name, {.bits = bits, .trellis = trellis}, again});
  };
  for (const double bits : {4.0, 3.0, 2.5, 2.0, 1.5, 1.0, 0.5}) add(bits, 0, false);
  for (const double bits : {2.0, 1.5, 1.0}) add(bits, 4, false);
  for (const double bits : {3.0, 2.0, 1.0}) add(bits, 0, true);
  return all;
}

/// Of setups() those that are asked for.
std::vector<CompressorSetup> setups_of(const Options& options) {
  std::vector<CompressorSetup> asked = setups();
  if (options.stored.empty()) return asked;
  std::erase_if(asked, [&](const CompressorSetup& setup) {
    return std::ranges::find(options.stored, setup.name) == options.stored.end();
  });
  return asked;
}

struct Step {
  int64_t bytes = 0;
  int64_t own = 0;      ///< of these what lives for backward alone: no batch, no buffers
  at::Tensor gradient;  ///< of all parameters, flat; undefined where it was not asked for
};

/// With random numbers of its own, so that dropout draws the same in every step.
Step step(const examples::ModelSubject& model, Compressor* compressor, bool has_gradient) {
  torch::manual_seed(5);
  Step result;
  at::Tensor loss;
  {
    SavedBytes meter, own;
    own.set_apart(model.beside);
    const auto watch = meter.watch(), watch_own = own.watch();
    std::optional<CompressionScope> scope;
    if (compressor != nullptr) scope.emplace(*compressor);
    loss = model.loss();
    result.bytes = meter.unique_bytes();
    result.own = own.unique_bytes();
  }
  if (!has_gradient) return result;
  std::vector<at::Tensor> parts;
  for (const at::Tensor& part : torch::autograd::grad({loss}, model.parameters)) {
    parts.push_back(part.flatten());
  }
  result.gradient = at::cat(parts);
  return result;
}

/// Steps whose errors or bytes count come after one by whose errors bits are split.
Step settled_step(const examples::ModelSubject& model, const CompressorSetup& setup,
                  bool has_gradient) {
  Compressor compressor(setup.options);
  setup.set_up(compressor);
  step(model, &compressor, false);
  return step(model, &compressor, has_gradient);
}

std::vector<std::string> row_of(const std::string& network, const std::string& name,
                                const Step& step, const Step& exact, const Options& options) {
  const auto less = [&](int64_t Step::*bytes) {
    return examples::number(static_cast<double>(exact.*bytes) / static_cast<double>(step.*bytes));
  };
  const std::string mb =
      examples::number(static_cast<double>(step.bytes) / static_cast<double>(options.batch) / 1e6);
  return {network, name, mb, less(&Step::bytes), less(&Step::own), "-"};
}

/// Bytes with dropout, errors without: codes draw numbers, too, and masks would be others.
Rows rows_of(const std::string& network, const Options& options) {
  const examples::ModelSubject model = examples::make_model(network, options.batch);
  const examples::ModelSubject still = examples::make_model(network, options.batch);
  const bool drops = options.measures_errors && still.end_dropout();
  const Step exact = step(model, nullptr, false);
  Rows rows{row_of(network, "exact", exact, exact, options)};
  at::Tensor gradient;
  if (options.measures_errors) {
    gradient = step(still, nullptr, true).gradient;
    rows[0].back() = "0";
  }
  for (const CompressorSetup& setup : setups_of(options)) {
    const Step coded = settled_step(still, setup, options.measures_errors);
    const Step counted = drops ? settled_step(model, setup, false) : coded;
    rows.push_back(row_of(network, setup.name, counted, exact, options));
    if (options.measures_errors) {
      const at::Tensor rest = coded.gradient - gradient;
      rows.back().back() = examples::number((rest.norm() / gradient.norm()).item<double>(), 2);
    }
    std::cerr << network << ", " << setup.name << '\n';
  }
  return rows;
}

/// Rows of other schemes that keep fewer bytes or err less than every one of ours, by the figures
/// that a reader sees: "NETWORK: NAME; ...".
std::string beside_ours(const Rows& rows) {
  const auto is_ours = [](const auto& row) { return row[1].starts_with(kOurs); };
  std::string names;
  for (const auto& row : rows) {
    const bool is_beaten = std::ranges::any_of(rows, [&](const auto& other) {
      return is_ours(other) && other[0] == row[0] && std::stod(other[2]) <= std::stod(row[2]) &&
             std::stod(other.back()) <= std::stod(row.back());
    });
    if (row[1] == "exact" || is_ours(row) || is_beaten) continue;
    names += (names.empty() ? "" : "; ") + row[0] + ": " + row[1];
  }
  return names;
}

std::string command_of(const Options& options) {
  std::string text = "scripts/bench memory";
  if (options.models != Options{}.models) text += typed("--models", options.models);
  if (!options.stored.empty()) text += typed("--stored", options.stored);
  if (options.measures_errors) text += " --errors";
  return text + " --batch " + std::to_string(options.batch) + " --out bench/results";
}

std::string conditions_of(const Options& options) {
  return "`" + command_of(options) + "`. One forward with loss in training, fp32, " +
         std::to_string(options.batch) +
         " pictures or sequences, torch's first parameters, activations in 3 bits; counted by "
         "fewbit::SavedBytes: each memory once, parameters left out, the batch among it.";
}

examples::Sheet sheet_of(const Rows& rows) {
  return {kTitle,
          {"network", "kept", "MB of one", "times less", "batch and buffers aside",
           "error of the gradient"},
          rows};
}

void write(const Rows& rows, const Options& options) {
  if (options.folder.empty()) return;
  examples::Page page("Memory: what well-known networks keep for backward");
  page.add(conditions_of(options));
  page.add(sheet_of(rows));
  page.add(
      "group: ActNN's rounding in groups of 256 of all that takes bits. actnn: its levels, the "
      "third one of 2 bits on average. gact: its second one. division, blpa: as many bits "
      "everywhere. rotated: the default; layers recomputed: with outputs of linear layers and "
      "activations recomputed where that errs less (recompute). Batch and buffers aside: times "
      "less of what lives for backward alone, without pictures and running means, which a program "
      "holds anyway. Error of the gradient: |g - exact| over |exact| of one step with all "
      "parameters as they are at first, without dropout. Bytes kept are no peak: peaks.md, "
      "fits.md.");
  if (options.measures_errors) {
    const std::string front = beside_ours(rows);
    page.add(
        "Rows of other schemes that no row of rotated beats, with no more bytes and no larger "
        "error: " +
        (front.empty() ? "none" : front) + ".");
  }
  page.write(options.folder, "memory");
}

void run(const Options& options) {
  Rows rows;
  if (options.resumes) {
    rows = kept_rows(options.folder + "/memory.md", conditions_of(options), kTitle);
  }
  complete(
      rows, options.models, [&](const std::string& name) { return rows_of(name, options); },
      [&] { write(rows, options); });
  std::cout << examples::markdown(sheet_of(rows));
}

}  // namespace

Study command(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.description(
      "What well-known networks keep for backward, exact and coded.\n"
      "Example: scripts/bench memory --models resnet50 --errors");
  app.add_option("--models", options->models, "which")
      ->check(CLI::IsMember(fewbit::examples::model_names()));
  std::vector<std::string> stored;
  for (const CompressorSetup& setup : setups()) stored.push_back(setup.name);
  app.add_option("--stored", options->stored, "how, beside exact; without it every way")
      ->check(CLI::IsMember(stored));
  app.add_option("--batch", options->batch, "pictures or sequences")->check(CLI::PositiveNumber);
  app.add_flag("--errors", options->measures_errors, "of gradients too, by backward passes");
  auto* const out = app.add_option("--out", options->folder, "folder for the page");
  app.add_flag("--resume", options->resumes,
               "keep the rows of a page there that the same options left")
      ->needs(out);
  return [options] {
    run(*options);
    return 0;
  };
}

}  // namespace fewbit::bench::memory_study

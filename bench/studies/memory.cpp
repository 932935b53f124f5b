// What well-known networks keep for backward, exact and coded, a picture or sequence: counted, not
// estimated, of one forward on the CPU. Prints Markdown; --out writes memory.html, .md and .json.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>
#include <CLI/CLI.hpp>
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include "bench/codecs/show.hpp"
#include "bench/studies/compressor_setup.hpp"
#include "bench/studies/studies.hpp"
#include "examples/models/catalogue.hpp"
#include "fewbit/saved_bytes.hpp"

namespace fewbit::bench::memory_study {

namespace {

struct Options {
  std::vector<std::string> models{"resnet50",      "resnet152",      "wide_resnet50_2",
                                  "vgg11",         "densenet121",    "vit_small_16",
                                  "bert_base_128", "bert_large_128", "gpt"};
  std::vector<std::string> stored;  ///< names of setups(); empty: all
  int64_t batch = 2;
  bool measures_errors = false;
  std::string folder;
};

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

std::string megabytes(int64_t bytes, int64_t batch) {
  return examples::number(static_cast<double>(bytes) / static_cast<double>(batch) / 1e6);
}

struct Row {
  std::string name;
  Step step;
  double error = 0.0;  ///< of the gradient
};

/// Steps whose errors or bytes count come after one by whose errors bits are split.
Step settled_step(const examples::ModelSubject& model, const CompressorSetup& setup,
                  bool has_gradient) {
  Compressor compressor(setup.options);
  setup.set_up(compressor);
  step(model, &compressor, false);
  return step(model, &compressor, has_gradient);
}

/// The first one is exact.
std::vector<Row> rows_of(const examples::ModelSubject& model, const std::string& name,
                         const Options& options) {
  std::vector<Row> rows{{"exact", step(model, nullptr, false)}};
  const std::vector<CompressorSetup> setups = setups_of(options);
  for (const CompressorSetup& setup : setups) {
    rows.push_back({setup.name, settled_step(model, setup, false)});
    std::cerr << name << ", " << setup.name << ": bytes\n";
  }
  if (!options.measures_errors) return rows;
  model.end_dropout();  // codes draw numbers, too, and masks would be others
  const at::Tensor exact = step(model, nullptr, true).gradient;
  for (size_t i = 0; i < setups.size(); ++i) {
    const at::Tensor rest = settled_step(model, setups[i], true).gradient - exact;
    rows[i + 1].error = (rest.norm() / exact.norm()).item<double>();
    std::cerr << name << ", " << rows[i + 1].name << ": error\n";
  }
  return rows;
}

/// Of other schemes, that keep fewer bytes or err less than every row of ours.
std::vector<std::string> beside_ours(const std::vector<Row>& rows) {
  const auto is_ours = [](const Row& row) { return row.name.starts_with(kOurs); };
  std::vector<std::string> names;
  for (size_t i = 1; i < rows.size(); ++i) {
    const bool is_beaten = std::ranges::any_of(rows, [&](const Row& other) {
      return is_ours(other) && other.step.bytes <= rows[i].step.bytes &&
             other.error <= rows[i].error;
    });
    if (!is_ours(rows[i]) && !is_beaten) names.push_back(rows[i].name);
  }
  return names;
}

/// Notes at the front of which network others are.
void add_rows(examples::Sheet& sheet, const std::string& name, const Options& options,
              std::string& front) {
  const examples::ModelSubject model = examples::make_model(name, options.batch);
  const std::vector<Row> rows = rows_of(model, name, options);
  for (const std::string& other : beside_ours(rows)) {
    front += (front.empty() ? "" : "; ") + name + ": " + other;
  }
  const auto less = [&](int64_t Step::*bytes, const Row& row) {
    return examples::number(static_cast<double>(rows[0].step.*bytes) /
                            static_cast<double>(row.step.*bytes));
  };
  for (const Row& row : rows) {
    sheet.rows.push_back({name, row.name, megabytes(row.step.bytes, options.batch),
                          less(&Step::bytes, row), less(&Step::own, row),
                          options.measures_errors ? examples::number(row.error, 2) : "-"});
  }
}

std::string command_of(const Options& options) {
  std::string text = "scripts/bench memory";
  if (options.models != Options{}.models) text += typed("--models", options.models);
  if (!options.stored.empty()) text += typed("--stored", options.stored);
  if (options.measures_errors) text += " --errors";
  return text + " --batch " + std::to_string(options.batch) + " --out bench/results";
}

void run(const Options& options) {
  examples::Page page("Memory: what well-known networks keep for backward");
  page.add("`" + command_of(options) + "`. One forward with loss in training, fp32, " +
           std::to_string(options.batch) +
           " pictures or sequences, torch's first parameters, activations in 3 bits; counted by "
           "fewbit::SavedBytes: each memory once, parameters left out, the batch among it.");
  examples::Sheet sheet{"Bytes kept for backward",
                        {"network", "kept", "MB of one", "times less", "batch and buffers aside",
                         "error of the gradient"},
                        {}};
  std::string front;
  for (const std::string& name : options.models) add_rows(sheet, name, options, front);
  show(
      page, sheet,
      "group: ActNN's rounding in groups of 256 of all that takes bits. actnn: its levels, the "
      "third "
      "one of 2 bits on average. gact: its second one. division, blpa: as many bits everywhere. "
      "rotated: the default; "
      "layers recomputed: with outputs of linear layers and activations recomputed where that "
      "errs less (recompute). Batch and buffers aside: times less of what lives for backward "
      "alone, "
      "without pictures and running means, which a program holds anyway. Error of the gradient: |g "
      "- exact| over |exact| of one step with all "
      "parameters as they are at first, without dropout. Bytes kept are no peak: peaks.md, "
      "fits.md.");
  if (options.measures_errors) {
    page.add(
        "Rows of other schemes that no row of rotated beats, with no more bytes and no larger "
        "error: " +
        (front.empty() ? "none" : front) + ".");
  }
  if (!options.folder.empty()) page.write(options.folder, "memory");
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
  app.add_option("--out", options->folder, "folder for the page");
  return [options] {
    run(*options);
    return 0;
  };
}

}  // namespace fewbit::bench::memory_study

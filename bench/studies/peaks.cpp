// The most that a step of a well-known network holds at once, exact, with checkpoints and coded: at
// the allocator, the first steps too, in which errors are measured. Prints Markdown; --out writes
// peaks.html, .md and .json.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/codecs/show.hpp"
#include "bench/studies/counted_memory.hpp"
#include "bench/studies/studies.hpp"
#include "bench/studies/ways.hpp"
#include "fewbit/saved_bytes.hpp"

namespace fewbit::bench::peaks_study {

namespace {

struct Options {
  std::vector<std::string> models{"resnet18_cifar", "resnet50", "vit_small_16", "bert_base_128",
                                  "gpt"};
  int64_t batch = 8;
  std::string folder;
};

const std::vector<Way> kWays = {{"exact"},
                                {"checkpoint of every block", {}, true},
                                {"3 bits", 3.0},
                                {"2 bits", 2.0},
                                {"1 bit", 1.0}};

struct Peaks {
  int64_t kept = 0, forward = 0, step = 0;
};

at::Tensor forward(const examples::ModelSubject& subject, Compressor* compressor, Peaks& peaks) {
  SavedBytes meter;
  const auto watch = meter.watch();
  std::optional<CompressionScope> scope;
  if (compressor != nullptr) scope.emplace(*compressor);
  at::Tensor loss = subject.loss();
  peaks.kept = meter.unique_bytes();
  return loss;
}

/// The highest of several steps; what the last one keeps.
Peaks peaks_of(const examples::ModelSubject& subject, const Way& way) {
  constexpr int kSteps = 3;
  way.run_blocks(subject);
  const std::unique_ptr<Compressor> compressor = way.compressor();
  CountedMemory& memory = CountedMemory::instance();
  Peaks peaks;
  for (int step = 0; step < kSteps; ++step) {
    for (const at::Tensor& parameter : subject.parameters) parameter.mutable_grad().reset();
    const int64_t peak = memory.peak_of([&] {
      const at::Tensor loss = forward(subject, compressor.get(), peaks);
      peaks.forward = std::max(peaks.forward, memory.peak());
      loss.backward();
    });
    peaks.step = std::max(peaks.step, peak);
  }
  return peaks;
}

std::string mebibytes(int64_t bytes) {
  return examples::number(static_cast<double>(bytes) / 0x1p20);
}

void add_rows(examples::Sheet& sheet, const std::string& name, int64_t batch) {
  const examples::ModelSubject subject = examples::make_model(name, batch);
  int64_t gradients = 0;
  for (const at::Tensor& parameter : subject.parameters) {
    gradients += static_cast<int64_t>(parameter.nbytes());
  }
  std::optional<Peaks> exact;
  for (const Way& way : kWays) {
    if (!way.is_possible(subject)) continue;
    const Peaks peaks = peaks_of(subject, way);
    if (!exact) exact = peaks;
    const auto less = [&](int64_t Peaks::*bytes) {
      return examples::number(static_cast<double>(*exact.*bytes) /
                              static_cast<double>(peaks.*bytes));
    };
    sheet.rows.push_back({name, way.name, mebibytes(peaks.kept), less(&Peaks::kept),
                          mebibytes(peaks.forward), mebibytes(peaks.step), less(&Peaks::step),
                          mebibytes(gradients)});
    std::cerr << name << ", " << way.name << '\n';
  }
}

void run(const Options& options) {
  CountedMemory::instance().start();
  examples::Page page("Peaks: the most that a step holds at once");
  std::string models;
  for (const std::string& name : options.models) models += " " + name;
  page.add("`scripts/bench peaks --models" + models + " --batch " + std::to_string(options.batch) +
           " --out bench/results`. Forward, loss and backward in training, fp32, " +
           std::to_string(options.batch) +
           " pictures or sequences, activations in 3 bits, otherwise the default options.");
  examples::Sheet sheet{"MiB of a step",
                        {"network", "stored", "kept", "times less", "peak of forward",
                         "peak of step", "peak, times less", "gradients"},
                        {}};
  for (const std::string& name : options.models) add_rows(sheet, name, options.batch);
  show(page, sheet,
       "Kept: by autograd for backward, counted by fewbit::SavedBytes. Peaks: the most bytes of "
       "tensors at a time, of all threads, in any of three steps from the first on; with gradients "
       "of all parameters, which a step makes anew, without parameters and the batch.");
  if (!options.folder.empty()) page.write(options.folder, "peaks");
}

}  // namespace

Study command(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.description(
      "The most that a step of well-known networks holds at once.\n"
      "Example: scripts/bench peaks --models resnet50 --batch 2");
  app.add_option("--models", options->models, "which")
      ->check(CLI::IsMember(examples::model_names()));
  app.add_option("--batch", options->batch, "pictures or sequences")->check(CLI::PositiveNumber);
  app.add_option("--out", options->folder, "folder for the page");
  return [options] {
    run(*options);
    return 0;
  };
}

}  // namespace fewbit::bench::peaks_study

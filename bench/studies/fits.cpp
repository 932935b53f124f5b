// The largest batch that fits: steps with Adam are run in processes whose allocator throws above a
// limit, for larger and larger batches, the first steps too, in which errors are measured. Prints
// Markdown; --out writes fits.html, .md and .json.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <sys/wait.h>
#include <torch/optim/adam.h>
#include <unistd.h>

#include "bench/codecs/show.hpp"
#include "bench/studies/counted_memory.hpp"
#include "bench/studies/studies.hpp"
#include "bench/studies/ways.hpp"

namespace fewbit::bench::fits_study {

namespace {

struct Options {
  std::vector<std::string> models{"resnet18_cifar", "bert_small_128"};
  int64_t limit = 1024;  ///< MiB
  std::string folder;
};

const std::vector<Way> kWays = {{"exact"},       {"checkpoint of every block", {}, true},
                                {"3 bits", 3.0}, {"2 bits", 2.0},
                                {"1 bit", 1.0},  {"checkpoint, inputs in 2 bits", 2.0, true}};

void run_steps(const std::string& name, int64_t batch, const Way& way) {
  const examples::ModelSubject subject = examples::make_model(name, batch);
  way.run_blocks(subject);
  const std::unique_ptr<Compressor> compressor = way.compressor();
  torch::optim::Adam optimizer(subject.parameters);
  constexpr int kSteps = 3;
  for (int step = 0; step < kSteps; ++step) {
    at::Tensor loss;
    {
      std::optional<CompressionScope> scope;
      if (compressor) scope.emplace(*compressor);
      loss = subject.loss();
    }
    loss.backward();
    optimizer.step();
    optimizer.zero_grad();
  }
}

constexpr int kFits = 0, kTooLarge = 3, kFailed = 4;

/// In a process of its own.
bool fits(const std::string& name, int64_t batch, const Way& way, int64_t limit) {
  const pid_t child = fork();
  TORCH_CHECK(child >= 0, "fits: no process could be started");
  if (child == 0) {
    CountedMemory& memory = CountedMemory::instance();
    memory.start(limit);
    int status = kFits;
    try {
      run_steps(name, batch, way);
    } catch (const std::exception& error) {
      if (!memory.was_exceeded()) std::fprintf(stderr, "fits: %s\n", error.what());
      status = memory.was_exceeded() ? kTooLarge : kFailed;
    }
    _exit(status);
  }
  int status = 0;
  TORCH_CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                  (WEXITSTATUS(status) == kFits || WEXITSTATUS(status) == kTooLarge),
              "fits: a step of ", name, " failed");
  return WEXITSTATUS(status) == kFits;
}

/// 0: none does. A batch that is a sixteenth larger, or one, does not.
int64_t largest_batch(const std::string& name, const Way& way, int64_t limit) {
  int64_t fitting = 0, too_large = 1;
  while (fits(name, too_large, way, limit)) fitting = std::exchange(too_large, 2 * too_large);
  while (too_large - fitting > std::max<int64_t>(1, fitting / 16)) {
    const int64_t middle = (fitting + too_large) / 2;
    (fits(name, middle, way, limit) ? fitting : too_large) = middle;
  }
  return fitting;
}

void add_rows(examples::Sheet& sheet, const std::string& name, const Options& options) {
  int64_t exact = 0;
  for (const Way& way : kWays) {
    const int64_t batch = largest_batch(name, way, options.limit << 20);
    if (!way.bits && !way.has_checkpoints) exact = batch;
    sheet.rows.push_back({name, way.name, std::to_string(batch),
                          examples::number(static_cast<double>(batch) /
                                           static_cast<double>(std::max<int64_t>(exact, 1)))});
    std::fprintf(stderr, "%s, %s: %lld\n", name.c_str(), way.name.c_str(),
                 static_cast<long long>(batch));
  }
}

void run(const Options& options) {
  examples::Page page("The largest batch that fits");
  std::string models;
  for (const std::string& name : options.models) models += " " + name;
  page.add(
      "`scripts/bench fits --models" + models + " --limit " + std::to_string(options.limit) +
      " --out bench/results`. Steps of forward, loss, backward and Adam in fp32, three of them "
      "from the first on, "
      "in a process whose allocator throws above " +
      std::to_string(options.limit) +
      " MiB: parameters, gradients, moments, the batch and all that a step holds at once are in "
      "it. A batch a sixteenth larger throws.");
  examples::Sheet sheet{"Batches", {"network", "kept", "largest batch", "times exact"}, {}};
  for (const std::string& name : options.models) add_rows(sheet, name, options);
  show(page, sheet, "Checkpoints: fewbit::checkpoint around every block.");
  if (!options.folder.empty()) page.write(options.folder, "fits");
}

}  // namespace

Study command(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.description(
      "How large a batch fits into so much memory, by running it.\n"
      "Example: scripts/bench fits --models resnet18_cifar --limit 512");
  app.add_option("--models", options->models, "which")
      ->check(CLI::IsMember(examples::model_names()));
  app.add_option("--limit", options->limit, "MiB")->check(CLI::PositiveNumber);
  app.add_option("--out", options->folder, "folder for the page");
  return [options] {
    run(*options);
    return 0;
  };
}

}  // namespace fewbit::bench::fits_study

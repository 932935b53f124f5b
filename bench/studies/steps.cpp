// The time of a step (forward, loss, backward), its peak and the error of its gradient, of networks
// whose saved tensors are coded, beside exact ones and beside checkpoints; and what plans for fewer
// bytes predict. All variants take turns on the same parameters and batch, a few steps in a row
// each: the first after another variant finds the allocator as it is in no training. The order
// moves on with every round. With one thread the time is the processor's, which leaves out the
// turns of other programs. Prints Markdown; --out writes steps.html, .md and .json after every
// network, from which --resume goes on.
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <thread>

#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>
#include <CLI/CLI.hpp>

#include "bench/measure.hpp"
#include "bench/studies/compressor_setup.hpp"
#include "bench/studies/counted_memory.hpp"
#include "bench/studies/step_page.hpp"
#include "bench/studies/studies.hpp"
#include "bench/studies/ways.hpp"
#include "examples/models/catalogue.hpp"
#include "examples/support/page.hpp"
#include "examples/support/subject.hpp"
#include "fewbit/memory_plan.hpp"
#include "fewbit/saved_bytes.hpp"

namespace fewbit::bench::steps_study {

namespace {

struct Options {
  std::vector<std::string> models{"resnet18_cifar",
                                  "resnet50_cifar",
                                  "bert_small_128",
                                  "vit_small_16",
                                  "gpt",
                                  "transformer",
                                  "cnn",
                                  "normed cnn"};
  std::vector<std::string> stored;  ///< of setups(); empty: all
  int64_t batch = 16;
  std::vector<int> threads{1, static_cast<int>(std::thread::hardware_concurrency())};
  int rounds = 5;
  std::vector<std::string> planned{"resnet18_cifar", "bert_small_128"};
  std::vector<double> budgets{50, 25, 10, 5};  ///< of kept bytes, in per cent of exact ones
  std::vector<double> peaks{75, 60, 50};       ///< of plans' peaks, in per cent of the exact one
  std::string folder;
  bool resumes = false;
};

struct Network {
  std::vector<at::Tensor> parameters;
  std::vector<std::string> names;
  std::function<at::Tensor()> loss;
  std::function<void(const examples::RunBlock&)> run_blocks_by = nullptr;
};

/// Of the large ones of the catalogue a part as much.
int64_t batch_of(const std::string& name, int64_t batch) {
  const int64_t part = name == "gpt" ? 16 : name == "vit_small_16" ? 4 : 1;
  return std::max(batch / part, int64_t{1});
}

/// Of the examples' data in their batches 32 times as large, or of the catalogue.
Network make_network(const std::string& name, int64_t batch, bool drops = true) {
  const auto known = examples::model_names();
  if (std::ranges::find(known, name) != known.end()) {
    const examples::ModelSubject subject = examples::make_model(name, batch_of(name, batch));
    if (!drops) subject.end_dropout();
    return {subject.parameters, subject.names, subject.loss, subject.run_blocks_by};
  }
  const std::string function = name == "normed cnn" ? "relu" : "gelu";
  const examples::Subject subject = examples::make_subject(name, function, 1, 32);
  const examples::Activate activate = examples::exact(function).activate;
  return {subject.parameters, subject.names,
          [subject, activate] { return subject.loss(0, activate); }};
}

/// What is stored, and how.
struct Setup {
  std::string name;
  std::optional<CompressorOptions> options = {};  ///< none: exact
  bool is_offloaded = false;
  bool runs_layers_again = false;
  bool has_checkpoints = false;  ///< at every block

  std::unique_ptr<Compressor> compressor() const {
    if (!options) return nullptr;
    auto made = std::make_unique<Compressor>(*options);
    CompressorSetup{name, *options, runs_layers_again}.set_up(*made);
    if (is_offloaded) made->offload_exact("*");
    return made;
  }
};

std::vector<Setup> setups() {
  const CompressorOptions two = {.bits = 2};
  return {{"exact"},
          {.name = "checkpoint of every block", .has_checkpoints = true},
          {.name = "checkpoint, inputs in 2 bits", .options = two, .has_checkpoints = true},
          {.name = "offloaded to a file", .options = two, .is_offloaded = true},
          {"3 bits", {{.bits = 3}}},
          {"2 bits", two},
          {"1 bit", {{.bits = 1}}},
          {"2 bits, every use decodes", {{.bits = 2, .decoded_cache_bytes = 0}}},
          {"2 bits, trellis", {{.bits = 2, .trellis = 4}}},
          {.name = "2 bits, layers recomputed", .options = two, .runs_layers_again = true},
          {"group, 2 bits", {{.bits = 2, .scheme = Scheme::group}}},
          {"actnn, level 2, 4 bits", {{.bits = 4, .scheme = Scheme::actnn, .level = 2}}},
          {"gact, 4 bits", {{.bits = 4, .scheme = Scheme::gact}}},
          {"division, 2 bits", {{.bits = 2, .scheme = Scheme::division}}},
          {"blpa, 4 bits", {{.bits = 4, .scheme = Scheme::blpa}}}};
}

/// Of setups() the exact one and those that are asked for.
std::vector<Setup> setups_of(const Options& options) {
  std::vector<Setup> asked = setups();
  if (options.stored.empty()) return asked;
  std::erase_if(asked, [&](const Setup& setup) {
    return setup.name != "exact" &&
           std::ranges::find(options.stored, setup.name) == options.stored.end();
  });
  return asked;
}

struct Variant {
  Setup setup;
  std::unique_ptr<Compressor> compressor = {};
  int64_t bytes = 0;                 ///< kept when forward is over
  int64_t peak = 0;                  ///< bytes at a time in any step, beside parameters
  std::vector<double> seconds = {};  ///< of every round
  std::vector<double> exact = {};    ///< of the exact steps among them

  static void forget_gradients(const Network& network) {
    for (const at::Tensor& parameter : network.parameters) parameter.mutable_grad().reset();
  }

  at::Tensor loss(const Network& network) const {
    if (network.run_blocks_by)
      network.run_blocks_by(setup.has_checkpoints ? run_checkpoint : nullptr);
    std::optional<CompressionScope> scope;
    if (compressor) scope.emplace(*compressor);
    return network.loss();
  }

  void step(const Network& network) const {
    forget_gradients(network);
    loss(network).backward();
  }

  int64_t bytes_kept(const Network& network) const {
    SavedBytes meter;
    const auto watch = meter.watch();
    const at::Tensor held = loss(network);
    return meter.unique_bytes();
  }
};

/// Until bits no longer move; its bytes.
void settle(const Network& network, Variant& variant) {
  const auto step = [&] {
    Variant::forget_gradients(network);
    variant.peak =
        std::max(variant.peak, CountedMemory::instance().peak_of([&] { variant.step(network); }));
  };
  for (int i = 0; i < 2; ++i) step();  // bits are split by what they see, which is measured
  variant.bytes = variant.bytes_kept(network);
  step();
}

std::vector<Variant> variants_for(const Network& network, const Options& options) {
  std::vector<Variant> variants;
  for (Setup& setup : setups_of(options)) {
    if (setup.has_checkpoints && !network.run_blocks_by) continue;
    std::unique_ptr<Compressor> compressor = setup.compressor();
    variants.push_back({std::move(setup), std::move(compressor)});
    settle(network, variants.back());
  }
  return variants;
}

at::Tensor gradient_of(const Network& network, const Variant& variant) {
  variant.step(network);
  std::vector<at::Tensor> parts;
  for (const at::Tensor& parameter : network.parameters) {
    if (parameter.grad().defined()) parts.push_back(parameter.grad().flatten());
  }
  return at::cat(parts);
}

/// Of the gradients of all parameters, without dropout, over the exact one; by variant.
std::vector<double> gradient_errors(const std::string& name, const Options& options) {
  const Network network = make_network(name, options.batch, /*drops=*/false);
  const std::vector<Variant> variants = variants_for(network, options);
  const at::Tensor exact = gradient_of(network, variants[0]);
  std::vector<double> errors;
  for (const Variant& variant : variants) {
    errors.push_back(
        ((gradient_of(network, variant) - exact).norm() / exact.norm()).item<double>());
  }
  return errors;
}

void measure(const Network& network, std::vector<Variant>& variants, int rounds,
             bool of_processor) {
  // Steps in a row: many of a small network, two at least, of which one may be a step that
  // measures.
  constexpr double kSeconds = 1.5;
  constexpr int kLeast = 2;
  const auto time = [&](const Variant& variant) {
    const auto step = [&] { variant.step(network); };
    return of_processor ? processor_seconds_of(step) : seconds_of(step);
  };
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < variants.size(); ++i) {
      Variant& variant = variants[(i + static_cast<size_t>(round)) % variants.size()];
      double least = std::numeric_limits<double>::infinity(), least_exact = least, spent = 0;
      // In turn: a machine's speed changes within seconds.
      for (int steps = 0; steps < kLeast || spent < kSeconds; ++steps) {
        const double exact = time(variants[0]), ours = time(variant);
        least_exact = std::min(least_exact, exact);
        least = std::min(least, ours);
        spent += exact + ours;
      }
      variant.seconds.push_back(least);
      variant.exact.push_back(least_exact);
    }
  }
}

/// Of the least times: what else a machine does meanwhile only adds to them.
double ratio(const Variant& variant) {
  return std::ranges::min(variant.seconds) / std::ranges::min(variant.exact);
}

/// What a setup is called on the picture of a network, where few names and colours are told apart.
std::string group_of(const std::string& stored) {
  const std::vector<Setup> known = setups();
  const Setup& setup = *std::ranges::find(known, stored, &Setup::name);
  if (!setup.options) return setup.has_checkpoints ? "checkpoints" : "exact";
  if (setup.has_checkpoints) return "coded checkpoints";
  if (setup.is_offloaded) return "offloaded";
  if (setup.options->scheme != Scheme::rotated) return "other schemes";
  const bool is_plain = setup.options->trellis == 0 && !setup.options->decoded_cache_bytes &&
                        !setup.runs_layers_again;
  return is_plain ? "3, 2, 1 bits" : "2 bits, options";
}

Rows measured_rows(const std::string& name, const Options& options) {
  at::set_num_threads(options.threads.back());
  const std::vector<double> errors = gradient_errors(name, options);
  const Network network = make_network(name, options.batch);
  Rows rows;
  for (const int threads : options.threads) {
    at::set_num_threads(threads);
    std::vector<Variant> variants = variants_for(network, options);
    measure(network, variants, options.rounds, threads == 1);
    for (size_t i = 0; i < variants.size(); ++i) {
      const Variant& variant = variants[i];
      const auto less = static_cast<double>(variants[0].bytes) / static_cast<double>(variant.bytes);
      rows.push_back({name, std::to_string(threads), variant.setup.name, examples::number(less),
                      examples::number(static_cast<double>(variant.peak) / 0x1p20),
                      examples::number(std::ranges::min(variant.seconds) * 1e3, 4),
                      examples::number(i == 0 ? 1.0 : ratio(variant)),
                      examples::number(errors[i])});
      std::cerr << name << ", " << threads << ", " << variant.setup.name << ": " << rows.back()[6]
                << " of exact\n";
    }
  }
  return rows;
}

struct Planned {
  std::string budget;
  MemoryPlan plan;
  double seconds;  ///< of planning

  std::string places_kept(Storage keep) const {
    return std::to_string(std::ranges::count_if(plan.sites, [keep](const MemoryPlan::Site& place) {
      return place.choice().storage == keep;
    }));
  }
};

Planned planned(const Network& network, std::string name, const MemoryBudget& budget) {
  torch::OrderedDict<std::string, at::Tensor> parameters;
  for (size_t i = 0; i < network.parameters.size(); ++i) {
    parameters.insert(network.names[i], network.parameters[i]);
  }
  Planned result{.budget = std::move(name), .plan = {}, .seconds = 0.0};
  result.seconds =
      seconds_of([&] { result.plan = plan_memory(network.loss, budget, {.bits = 2}, parameters); });
  std::cerr << "planned for " << result.budget << '\n';
  return result;
}

int64_t share_of(double percent, int64_t bytes) {
  return static_cast<int64_t>(percent * 1e-2 * static_cast<double>(bytes));
}

std::vector<Planned> plans_of(const Network& network, const Variant& exact,
                              const Options& options) {
  std::vector<Planned> plans;
  for (const double share : options.budgets) {
    plans.push_back(planned(network, "kept, " + examples::number(share) + " %",
                            {.kept_bytes = share_of(share, exact.bytes)}));
  }
  for (const double share : options.peaks) {
    plans.push_back(planned(network, "peak, " + examples::number(share) + " %",
                            {.peak_bytes = share_of(share, exact.peak)}));
  }
  return plans;
}

/// What a step takes more than the exact one, in ms.
double more_milliseconds(const Variant& variant) {
  return (std::ranges::min(variant.seconds) - std::ranges::min(variant.exact)) * 1e3;
}

Rows plan_rows(const std::string& name, const Options& options) {
  const Network network = make_network(name, options.batch);
  at::set_num_threads(options.threads.back());
  std::vector<Variant> variants(1);  // exact
  settle(network, variants[0]);
  Variant::forget_gradients(network);
  const std::vector<Planned> plans = plans_of(network, variants[0], options);
  for (const Planned& one : plans) {
    variants.push_back({{}, std::make_unique<Compressor>(CompressorOptions{.bits = 2})});
    variants.back().compressor->follow(one.plan);
    settle(network, variants.back());
  }
  measure(network, variants, options.rounds, false);
  Rows rows;
  for (size_t i = 0; i < plans.size(); ++i) {
    const auto& [budget, plan, seconds] = plans[i];
    const Variant& variant = variants[i + 1];
    const auto mebibytes = [](int64_t bytes) {
      return examples::number(static_cast<double>(bytes) / 0x1p20);
    };
    rows.push_back(
        {name, budget + (plan.fits() ? "" : ": none fits"), mebibytes(plan.bytes()),
         mebibytes(variant.bytes), mebibytes(plan.step_peak), mebibytes(variant.peak),
         plans[i].places_kept(Storage::exact), plans[i].places_kept(Storage::coded),
         plans[i].places_kept(Storage::recomputed), plans[i].places_kept(Storage::offloaded),
         examples::number(plan.seconds() * 1e3), examples::number(more_milliseconds(variant)),
         examples::number(std::ranges::min(variants[0].seconds) * 1e3, 4),
         examples::number(seconds)});
  }
  return rows;
}

std::string command_of(const Options& options) {
  std::string text = "scripts/bench steps";
  text += typed("--models", options.models) + typed("--planned", options.planned);
  if (!options.stored.empty()) text += typed("--stored", options.stored);
  text += " --threads";
  for (const int threads : options.threads) text += " " + std::to_string(threads);
  return text + " --rounds " + std::to_string(options.rounds) + " --out bench/results";
}

std::string conditions_of(const Options& options) {
  return "`" + command_of(options) + "`, " + processor_name() +
         ", libtorch, fp32. Forward, loss and backward, without an optimizer; activations in 3 "
         "bits. Catalogue networks on a batch of " +
         std::to_string(options.batch) + ", " +
         std::to_string(batch_of("vit_small_16", options.batch)) + " of vit_small_16, " +
         std::to_string(batch_of("gpt", options.batch)) + " of gpt; the examples' in 32 of theirs.";
}

void run(const Options& options) {
  StepPage page{.conditions = conditions_of(options), .group_of = group_of};
  if (options.resumes) page.read(options.folder);
  std::vector<std::string> to_plan;
  std::ranges::copy_if(options.planned, std::back_inserter(to_plan), [&](const std::string& name) {
    return std::ranges::find(options.models, name) != options.models.end();
  });
  const auto write = [&] {
    if (!options.folder.empty()) page.write(options.folder);
  };
  complete(
      page.times, options.models,
      [&](const std::string& name) { return measured_rows(name, options); }, write);
  complete(
      page.plans, to_plan, [&](const std::string& name) { return plan_rows(name, options); },
      write);
  page.print();
}

}  // namespace

Study command(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  std::vector<std::string> models = fewbit::examples::model_names();
  for (const char* name : {"transformer", "cnn", "normed cnn", "encoder"}) models.push_back(name);
  app.description(
      "The time of a step of networks whose saved tensors are coded.\n"
      "Example: scripts/bench steps --models resnet18_cifar --threads 1");
  app.add_option("--models", options->models, "which")->check(CLI::IsMember(models));
  app.add_option("--batch", options->batch, "pictures or sequences")->check(CLI::PositiveNumber);
  app.add_option("--threads", options->threads, "numbers of threads")->check(CLI::PositiveNumber);
  std::vector<std::string> stored;
  for (const Setup& setup : setups()) stored.push_back(setup.name);
  app.add_option("--stored", options->stored, "how, beside exact; without it every way")
      ->check(CLI::IsMember(stored));
  app.add_option("--planned", options->planned, "which of them to plan for fewer bytes")
      ->check(CLI::IsMember(models));
  app.add_option("--budgets", options->budgets, "of kept bytes, in per cent of exact ones")
      ->check(CLI::PositiveNumber);
  app.add_option("--peaks", options->peaks, "of plans, in per cent of the exact one")
      ->check(CLI::PositiveNumber);
  app.add_option("--rounds", options->rounds, "of each case")->check(CLI::PositiveNumber);
  auto* const out = app.add_option("--out", options->folder, "folder for the page");
  app.add_flag("--resume", options->resumes,
               "keep the rows of a page there that the same options left on the same processor")
      ->needs(out);
  return [options] {
    keep_memory();
    CountedMemory::instance().start();
    sort_once(options->threads);
    run(*options);
    return 0;
  };
}

}  // namespace fewbit::bench::steps_study

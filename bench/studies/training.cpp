// A training step (forward, loss, backward, optimizer) of the examples' models: exact, with few-bit
// derivatives, and inside a scope. All variants take turns on the same parameters and batches, in
// an order that moves on with every round, so that whatever else runs on the machine hurts them
// alike. With one thread the time is the processor's, which leaves out the turns of other programs.
// Prints Markdown; --json writes an array of rows, times in seconds: machine, model, function,
// times (of the example's batch), threads, variant, bits, median_s, min_s, exact_median_s,
// exact_min_s, ratio (median over the rounds of exact time over ours), saved_bytes,
// exact_saved_bytes, parameter_bytes, rounds.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include <ATen/Parallel.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/measure.hpp"
#include "bench/studies/studies.hpp"
#include "examples/support/subject.hpp"
#include "fewbit/activation_scope.hpp"
#include "fewbit/saved_bytes.hpp"

namespace fewbit::bench::training_study {

namespace {

using examples::Choice;
using examples::Subject;

struct Options {
  std::vector<std::string> models{"mlp", "cnn", "transformer", "encoder"};
  std::vector<std::string> functions{"gelu", "silu"};
  std::vector<int64_t> times;
  std::vector<int> threads{1, static_cast<int>(std::thread::hardware_concurrency())};
  double seconds = 10.0;
  std::string json;
};

struct Case {
  std::string model;
  std::string function;
  int64_t times;
  int threads;
};

// How a model is trained: by calls of few-bit functions, or unchanged in a scope.
struct Variant {
  std::string name;
  int bits;  // 0: exact
  Choice choice;
  bool in_scope;

  at::Tensor loss(const Subject& subject, int64_t step) const {
    if (!in_scope) return subject.loss(step, choice.activate);
    const ActivationScope scope({.bits = bits});
    return subject.loss(step, choice.activate);
  }
};

struct Row {
  Variant variant;
  std::vector<double> seconds;  // of every round
  int64_t saved_bytes;
  int64_t parameter_bytes;

  double least() const { return *std::min_element(seconds.begin(), seconds.end()); }
};

// Round by round, so that both times of a pair met the same load.
double ratio(const Row& exact, const Row& ours) {
  std::vector<double> ratios;
  for (size_t i = 0; i < exact.seconds.size(); ++i) {
    ratios.push_back(exact.seconds[i] / ours.seconds[i]);
  }
  return median(ratios);
}

// The encoder calls torch's own GELU, whatever it is given.
std::vector<Variant> variants_of(const Case& that) {
  const Choice exactly = examples::exact(that.function);
  std::vector<Variant> variants{{"exact", 0, exactly, false}};
  const bool only_scopes = that.model == "encoder";
  for (int bits = 1; bits <= 4; ++bits) {
    if (only_scopes) {
      variants.push_back({"scope", bits, exactly, true});
    } else {
      variants.push_back({"function", bits, examples::standard(that.function, bits), false});
    }
  }
  if (!only_scopes) variants.push_back({"scope", 3, exactly, true});
  return variants;
}

// By default a larger batch beside the example's own: activations of megabytes each.
std::vector<int64_t> times_of(const std::string& model, const Options& options) {
  if (!options.times.empty()) return options.times;
  return {1, model == "mlp" ? 256 : model == "cnn" ? 64 : 32};
}

Row new_row(const Variant& variant, const Subject& subject) {
  SavedBytes meter;
  at::Tensor loss;
  {
    const auto watch = meter.watch();
    loss = variant.loss(subject, 0);
  }
  return {variant, {}, meter.unique_bytes(), meter.parameter_bytes()};
}

std::vector<Row> measure(const Case& that, double seconds) {
  at::set_num_threads(that.threads);
  const Subject subject = examples::make_subject(that.model, that.function, 1, that.times);
  const auto optimizer = examples::make_optimizer(subject.parameters, subject.recipe);
  std::vector<Row> rows;
  for (const Variant& variant : variants_of(that)) rows.push_back(new_row(variant, subject));
  constexpr size_t kWarmUp = 3, kLeast = 20;
  double spent = 0.0;
  for (size_t round = 0; round < kWarmUp + kLeast || spent < seconds; ++round) {
    for (size_t i = 0; i < rows.size(); ++i) {
      Row& row = rows[(i + round) % rows.size()];
      const auto step = [&] {
        examples::train_step(
            *optimizer, [&] { return row.variant.loss(subject, static_cast<int64_t>(round)); });
      };
      const double time = that.threads == 1 ? processor_seconds_of(step) : seconds_of(step);
      if (round < kWarmUp) continue;
      spent += time;
      row.seconds.push_back(time);
    }
  }
  return rows;
}

void print(const Case& that, const std::vector<Row>& rows) {
  const Row& exact = rows[0];
  for (const Row& row : rows) {
    std::printf(
        "| %s | %s | x%lld | %d | %s | %d | %.3f | %.3f | %.3f | %.3f | %lld | %.1f |\n",
        that.model.c_str(), that.function.c_str(), static_cast<long long>(that.times), that.threads,
        row.variant.name.c_str(), row.variant.bits, median(row.seconds) * 1e3, row.least() * 1e3,
        ratio(exact, row), exact.least() / row.least(), static_cast<long long>(row.saved_bytes),
        100.0 *
            (1.0 - static_cast<double>(row.saved_bytes) / static_cast<double>(exact.saved_bytes)));
  }
  std::fflush(stdout);
}

nlohmann::ordered_json json_of(const Case& that, const Row& row, const Row& exact) {
  return {{"machine", processor_name()},
          {"model", that.model},
          {"function", that.function},
          {"times", that.times},
          {"threads", that.threads},
          {"variant", row.variant.name},
          {"bits", row.variant.bits},
          {"median_s", median(row.seconds)},
          {"min_s", row.least()},
          {"exact_median_s", median(exact.seconds)},
          {"exact_min_s", exact.least()},
          {"ratio", ratio(exact, row)},
          {"saved_bytes", row.saved_bytes},
          {"exact_saved_bytes", exact.saved_bytes},
          {"parameter_bytes", row.parameter_bytes},
          {"rounds", row.seconds.size()}};
}

nlohmann::ordered_json run(const Options& options) {
  std::printf(
      "%s. Exact time over ours, as the median of the rounds and of the least times: more is "
      "better. With one thread processor time, with more the clock's. Batch: times the example's. "
      "Bytes: what autograd keeps of a forward, batch and loss "
      "with it, parameters left out.\n\n"
      "| model | function | batch | threads | variant | bits | median ms | least ms | exact / ours "
      "| "
      "exact / ours, least | bytes kept | saved, %% |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      processor_name().c_str());
  auto result = nlohmann::ordered_json::array();
  for (const std::string& model : options.models) {
    for (const std::string& function : options.functions) {
      if (model == "encoder" && function != "gelu") continue;
      for (const int64_t times : times_of(model, options)) {
        for (const int threads : options.threads) {
          const Case that{model, function, times, threads};
          const std::vector<Row> rows = measure(that, options.seconds);
          print(that, rows);
          for (const Row& row : rows) result.push_back(json_of(that, row, rows[0]));
        }
      }
    }
  }
  return result;
}

}  // namespace

Study command(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.description(
      "A training step of the examples' models, exact against few-bit.\n"
      "Example: scripts/bench training --models transformer --times 32 --json rows.json");
  app.add_option("--models", options->models, "mlp cnn transformer encoder")
      ->check(CLI::IsMember({"mlp", "cnn", "transformer", "encoder"}));
  app.add_option("--functions", options->functions, "gelu silu; the encoder has gelu alone")
      ->check(CLI::IsMember({"gelu", "silu"}));
  app.add_option("--times", options->times, "size of the batch, in the example's")
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", options->threads, "numbers of threads")->check(CLI::PositiveNumber);
  app.add_option("--seconds", options->seconds, "of each case");
  app.add_option("--json", options->json, "file for the rows");
  return [options] {
    keep_memory();
    sort_once(options->threads);
    const auto rows = run(*options);
    if (!options->json.empty()) std::ofstream(options->json) << rows.dump(1) << '\n';
    return 0;
  };
}

}  // namespace fewbit::bench::training_study

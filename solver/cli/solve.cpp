#include "proven/solve.hpp"

#include <memory>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/parse_options.hpp"
#include "cli/progress.hpp"
#include "cli/solve_output.hpp"
#include "functions/registry.hpp"
#include "report/parallel.hpp"
#include "report/study.hpp"
#include "weights/parse.hpp"

namespace fewbit::solver {

namespace {

struct SolveArguments {
  std::string function;
  std::string expression;
  std::string name;
  std::string bits;
  std::string levels;
  std::string form = "levels";
  std::string objective = "squared";
  WeightArguments weight;
  std::string domain;
  std::string dtype = "exact";
  SolveOutput output;
};

/// What is wrong with a function's text is wrong with the command line.
template <class Read>
FunctionSpec usage(const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

FunctionSpec function_of(const SolveArguments& options) {
  const bool custom = !options.expression.empty() || !options.name.empty();
  if (custom && !options.function.empty()) {
    throw UsageError(options.expression.empty() ? "--name goes with --expr, not with --fn"
                                                : "--fn and --expr exclude each other");
  }
  if (!custom && options.function.empty()) {
    throw UsageError(
        "nothing to solve: give --fn FUNCTION, or --expr E with --name N (see fewbit-solve "
        "--help)");
  }
  if (!custom) return usage([&] { return parse_function(options.function); });
  if (options.expression.empty() || options.name.empty()) {
    throw UsageError("--expr and --name go together: the expression and what to call it");
  }
  return usage([&] { return custom_function(options.name, options.expression); });
}

/// The most levels of each table.
std::vector<int> sizes_of(const SolveArguments& options) {
  if (options.bits.empty() == options.levels.empty()) {
    throw UsageError(options.bits.empty() ? "no size given; expected --bits (1 to 8, or a range or "
                                            "list: 1-4) or --levels (2 to 256, likewise)"
                                          : "--bits and --levels exclude each other");
  }
  return options.bits.empty() ? parse_levels_list(options.levels) : parse_bits_list(options.bits);
}

/// All but the size; samples that the weight is a histogram of go to `samples`.
Problem problem_of(const SolveArguments& options, FunctionSpec function,
                   std::shared_ptr<Samples>& samples) {
  Problem problem;
  problem.function = std::move(function);
  problem.form = parse_form(options.form);
  problem.objective = parse_objective(options.objective);
  if (problem.objective.smoothed && problem.form != Form::levels) {
    throw UsageError("--objective smoothed goes with --form levels, not with " + options.form);
  }
  problem.dtype = parse_dtype(options.dtype);
  if (!options.domain.empty()) problem.domain = parse_domain(options.domain);
  // Last, because it may read large files.
  const ParsedWeight weight = parse_weight(options.weight);
  for (const auto& line : sample_warnings(weight.summary)) {
    if (!is_quiet()) fmt::print(stderr, "fewbit-solve: warning: {}\n", line);
  }
  problem.weight = weight.weight_for(problem.objective);
  if (!problem.weight.is_discrete()) samples = weight.samples;
  check_objective(options.objective, problem.weight);
  if (options.domain.empty()) problem.domain = default_domain(problem.weight);
  return problem;
}

/// "bias, verification".
std::string left_from(Stage stage, bool is_smoothed) {
  std::string left;
  for (const auto& [each, name] :
       {std::pair(Stage::search, "search"), std::pair(Stage::smoothing, "smoothing"),
        std::pair(Stage::bias, "bias"), std::pair(Stage::verification, "verification")}) {
    if (each < stage || (each == Stage::smoothing && !is_smoothed)) continue;
    left += (left.empty() ? "" : ", ") + std::string(name);
  }
  return left;
}

std::vector<Solved> solve_all_sizes(const Problem& problem, const std::vector<int>& levels) {
  std::vector<Solved> solved(levels.size());
  Progress progress("solving");
  progress(0, levels.size());
  SolveOptions options;
  if (levels.size() == 1) {
    options.begins = [&](Stage stage) {
      progress.detail("left: " + left_from(stage, problem.objective.smoothed));
    };
  }
  const auto work = [&](size_t i) {
    Problem one = problem;
    one.levels = levels[i];
    solved[i].table = solve(one, options);
  };
  parallel_for(levels.size(), work, [&](size_t done, size_t total) { progress(done, total); });
  return solved;
}

/// No bound worth the name was found: the error is rounding, or the work ended early.
void warn_of_gap(const Table& table) {
  constexpr double kWide = 0.5;
  if (is_quiet() || table.problem.objective.smoothed || table.relative_gap < kWide) return;
  fmt::print(
      stderr,
      "fewbit-solve: warning: {} levels: the relative gap is {:.2g}; that this table is near "
      "the best one is not proven\n",
      table.problem.levels, table.relative_gap);
}

int run_solve(const SolveArguments& options) {
  FunctionSpec function = function_of(options);
  const std::vector<int> levels = sizes_of(options);
  SolveOutput output = options.output;
  output.list = is_list_of_sizes(options.bits + options.levels);
  output.inputs = files_of(options.weight.weights);
  check_solve_output(output, levels);
  std::shared_ptr<Samples> samples;
  std::vector<Solved> solved =
      solve_all_sizes(problem_of(options, std::move(function), samples), levels);
  for (const Solved& each : solved) warn_of_gap(each.table);
  // A --domain of one's own leaves some of them out.
  for (Solved& each : solved) {
    if (samples && options.domain.empty()) each.samples = error_on_samples(each.table, *samples);
  }
  write_solved(output, solved);
  return 0;
}

}  // namespace

Subcommand add_solve(CLI::App& app) {
  const auto options = std::make_shared<SolveArguments>();
  const auto add = [&](const char* name, const char* value, std::string& place, const char* help) {
    app.add_option(name, place, help)->type_name(value);
  };
  SolveArguments& to = *options;
  add("--fn", "FUNCTION", to.function, "Built-in function, with parameters: gelu, elu:alpha=0.5");
  add("--expr", "EXPRESSION", to.expression, "A function of your own in terms of x");
  add("--name", "NAME", to.name, "What to call it");
  add("--bits", "SIZES", to.bits, "Bits per stored code, 1 to 8; several tables: 1-4 or 1,2,4");
  add("--levels", "SIZES", to.levels, "Instead of --bits, 2 to 256; several tables: 3-6 or 3,5,9");
  add("--form", "FORM", to.form, "levels (default), intervals or unbiased");
  add("--objective", "OBJECTIVE", to.objective,
      "squared (default) or smoothed[:tau=0.83,lambda=1e-3]");
  app.add_option("--weight", to.weight.weights,
                 "uniform (default), normal:MEAN,SIGMA, mixture:SIGMA_MIN,SIGMA_MAX, "
                 "laplace:MEAN,SCALE, student-t:MEAN,SCALE,DEGREES, histogram:FILE, samples:FILE "
                 "(again for more files; FILE.npz:KEY; - is standard input)")
      ->type_name("WEIGHT")
      ->expected(-1)
      ->allow_extra_args(false);  // one value each time
  add("--clip", "QUANTILE", to.weight.clip,
      "Samples beyond this quantile count as it, on both sides: 0.999");
  add("--sample-format", "FORMAT", to.weight.sample_format,
      "npy, npy:bf16, csv, raw, raw:f16, raw:bf16 or raw:f64, whatever the file is called");
  add("--domain", "LO,HI", to.domain, "Ends may be inf; default -10,10, for data its own range");
  add("--dtype", "TYPE", to.dtype, "Thresholds for exact (default), fp32, bf16 or fp16");
  app.add_flag("--json", to.output.json, "JSON instead of text; with -o to that file alone");
  add("-o,--output", "PATH", to.output.table,
      "Write the table as JSON, - for standard output; several: gelu_{bits}.json");
  add("--svg", "PATH", to.output.picture, "Write a picture of the table, likewise");
  return {&app, [options] { return run_solve(*options); }};
}

}  // namespace fewbit::solver

#include "search/solve.hpp"

#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/parse_options.hpp"
#include "functions/registry.hpp"
#include "report/describe.hpp"
#include "report/names.hpp"
#include "report/study.hpp"
#include "report/table_svg.hpp"
#include "table/json.hpp"
#include "weights/parse.hpp"

namespace fewbit::solver {

namespace {

struct Options {
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
  std::string output;
  std::string picture;
  bool json = false;
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

FunctionSpec function_of(const Options& options) {
  const bool custom = !options.expression.empty() || !options.name.empty();
  if (custom == !options.function.empty()) {
    throw UsageError(custom ? "--fn and --expr exclude each other"
                            : "nothing to solve: give --fn FUNCTION, or --expr E with --name N "
                              "(see --help)");
  }
  if (!custom) return usage([&] { return parse_function(options.function); });
  if (options.expression.empty() || options.name.empty()) {
    throw UsageError("--expr and --name go together: the expression and what to call it");
  }
  return usage([&] { return custom_function(options.name, options.expression); });
}

int size_of(const Options& options) {
  if (options.bits.empty() == options.levels.empty()) {
    throw UsageError(options.bits.empty() ? "give --bits 1..8 or --levels 2..256"
                                          : "--bits and --levels exclude each other");
  }
  return options.bits.empty() ? parse_levels(options.levels) : parse_bits(options.bits);
}

Problem problem_of(const Options& options) {
  Problem problem;
  problem.function = function_of(options);
  problem.levels = size_of(options);
  problem.form = parse_form(options.form);
  problem.objective = parse_objective(options.objective);
  problem.dtype = parse_dtype(options.dtype);
  if (!options.domain.empty()) problem.domain = parse_domain(options.domain);
  // Last, because it may read large files.
  const ParsedWeight weight = parse_weight(options.weight);
  for (const auto& line : sample_warnings(weight.summary)) {
    fmt::print(stderr, "fewbit-solve: warning: {}\n", line);
  }
  problem.weight = weight.spec;
  if (options.domain.empty()) problem.domain = default_domain(problem.weight);
  return problem;
}

int run(const Options& options) {
  const Table table = solve(problem_of(options));
  if (!options.picture.empty()) write_text_file(options.picture, table_picture(table));
  if (!options.output.empty()) write_table(table, options.output);
  if (options.json) {
    print(to_json(table));
  } else if (options.output.empty()) {
    print(describe(table, wants_colour()));
  } else {
    print(fmt::format("{}: {}, {}, error {}, {}\n", options.output,
                      function_name(table.problem.function), size_name(table),
                      short_number(table.error), gap_name(table)));
  }
  return 0;
}

}  // namespace

Subcommand add_solve(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  const auto add = [&](const char* name, const char* value, std::string& place, const char* help) {
    app.add_option(name, place, help)->type_name(value);
  };
  Options& to = *options;
  add("--fn", "FUNCTION", to.function, "Built-in function, with parameters: gelu, elu:alpha=0.5");
  add("--expr", "EXPRESSION", to.expression, "A function of your own in terms of x");
  add("--name", "NAME", to.name, "What to call it");
  add("--bits", "N", to.bits, "Bits per stored code, 1 to 8");
  add("--levels", "K", to.levels, "Instead of --bits: any number of levels, 2 to 256");
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
  app.add_flag("--json", to.json, "Print the table as JSON");
  add("-o,--output", "PATH", to.output, "Write the table as JSON to this file");
  add("--svg", "PATH", to.picture, "Write a picture of the table to this file");
  return {&app, [options] { return run(*options); }};
}

}  // namespace fewbit::solver

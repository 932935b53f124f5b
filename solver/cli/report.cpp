#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/parse_options.hpp"
#include "cli/progress.hpp"
#include "cli/table_files.hpp"
#include "functions/registry.hpp"
#include "report/document.hpp"
#include "report/error_report.hpp"
#include "report/order.hpp"
#include "report/paper_table.hpp"
#include "report/regret.hpp"
#include "report/study.hpp"
#include "weights/parse.hpp"

namespace fewbit::solver {

namespace {

struct ReportArguments {
  std::vector<std::string> files;
  std::string functions;
  std::vector<std::string> expressions;
  std::vector<std::string> names;
  std::string bits = "1-4";
  std::string forms = "levels";
  std::vector<std::string> objectives;
  std::vector<std::string> weights;
  std::string domain;
  std::string order = "error";
  std::string format;
  std::string output;
  bool paper = false;
  bool regret = false;
};

enum class Format { markdown, csv, html };

Format format_of(const ReportArguments& options) {
  std::string name = options.format;
  if (name.empty()) name = std::filesystem::path(options.output).extension().string();
  if (name.starts_with('.')) name.erase(0, 1);
  if (name.empty() || name == "md") return Format::markdown;
  if (name == "csv") return Format::csv;
  if (name == "html") return Format::html;
  const char* option = options.format.empty() ? "-o (its ending)" : "--format";
  throw UsageError(std::string(option) + ": '" + name +
                   "' is not accepted; expected md, csv or html");
}

Order order_of(const ReportArguments& options) {
  constexpr std::array<std::pair<std::string_view, Order>, 5> kOrders{{{"error", Order::error},
                                                                       {"bias", Order::bias},
                                                                       {"gap", Order::gap},
                                                                       {"name", Order::name},
                                                                       {"given", Order::given}}};
  for (const auto& [name, order] : kOrders) {
    if (name == options.order) return order;
  }
  throw UsageError("--sort: '" + options.order +
                   "' is not accepted; expected error, bias, gap, name or given");
}

/// Names with commas between. A comma after "elu:alpha=1" continues the parameters when "name="
/// follows.
std::vector<std::string> function_list(const std::string& text) {
  std::vector<std::string> names;
  if (text == "all") {
    for (const auto& info : registry()) names.push_back(info.name);
    return names;
  }
  for (const auto& part : split_list(text, "--fn")) {
    const bool parameter = part.find('=') < part.find(':');
    if (parameter && !names.empty()) {
      names.back() += "," + part;
    } else {
      names.push_back(part);
    }
  }
  return names;
}

/// The functions of one's own come first; without any and without --fn, all built-in ones.
std::vector<FunctionSpec> functions_of(const ReportArguments& options) {
  if (options.expressions.size() != options.names.size()) {
    throw UsageError("--expr and --name go together: a name for each expression");
  }
  std::string list = options.functions;
  if (list.empty() && options.expressions.empty()) list = "all";
  std::vector<FunctionSpec> functions;
  try {
    for (size_t i = 0; i < options.names.size(); ++i) {
      functions.push_back(custom_function(options.names[i], options.expressions[i]));
    }
    if (list.empty()) return functions;
    for (const auto& name : function_list(list)) functions.push_back(parse_function(name));
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  return functions;
}

Study study_of(const ReportArguments& options) {
  Study study;
  study.functions = functions_of(options);
  study.levels = parse_bits_list(options.bits);
  study.forms.clear();
  for (const auto& form : split_list(options.forms, "--form")) {
    study.forms.push_back(parse_form(form));
  }
  if (!options.objectives.empty()) study.objectives.clear();
  for (const auto& text : options.objectives) study.objectives.push_back(parse_objective(text));
  if (!options.domain.empty()) study.domain = parse_domain(options.domain);
  if (!options.weights.empty()) study.weights.clear();
  // All objectives of a report are for the same weight.
  Objective any;
  for (const Objective& objective : study.objectives) any.smoothed |= objective.smoothed;
  for (const auto& text : options.weights) {
    study.weights.push_back(parse_weight(WeightArguments{{text}, {}, {}}).weight_for(any));
  }
  return study;
}

/// "inputs.npy" of "samples:inputs.npy".
std::string place_of(const std::string& weight) {
  return weight.substr(weight.find(':') + 1);
}

std::vector<Result> solved(const Study& study, const ReportArguments& options) {
  Progress line("solving");
  auto results =
      solve_all(problems_of(study), [&](size_t done, size_t total) { line(done, total); });
  for (auto& result : results) {
    for (size_t i = 0; i < options.weights.size() && result.data.empty(); ++i) {
      if (study.weights[i] == result.problem.weight) result.data = place_of(options.weights[i]);
    }
  }
  const bool any = std::any_of(results.begin(), results.end(),
                               [](const Result& result) { return result.table.has_value(); });
  if (!any) throw Error(results.front().failure);
  return exact_once(results);
}

/// "fewbit 0.1.0": what found the tables.
std::string solvers_of(const std::vector<Result>& results) {
  std::set<std::string> versions;
  for (const auto& result : results) {
    if (result.table) versions.insert(result.table->solver);
  }
  return fmt::format("{}", fmt::join(versions, ", "));
}

/// Results of the error part are added to the document, with what they stand on.
void add_results(Document& document, const std::vector<Result>& results, Order order) {
  for (auto& section : error_sections(sorted(results, order))) {
    document.sections.push_back(std::move(section));
  }
  document.sections.front().notes.push_back(explain(order));
  const auto tables = std::count_if(results.begin(), results.end(),
                                    [](const Result& result) { return result.table.has_value(); });
  const bool read = !results.front().file.empty();
  document.provenance.emplace_back(
      "tables",
      fmt::format("{} {}, found by {}", tables,
                  read ? "read from files and proven again" : "solved", solvers_of(results)));
}

std::string render(const Document& document, Format format) {
  if (format == Format::csv) return to_csv(document);
  return format == Format::html ? to_html(document) : to_markdown(document);
}

std::vector<Section> regret_part(const Study& study) {
  Progress line("solving for regret:");
  RegretStudy regret;
  regret.functions = study.functions;
  regret.levels = study.levels;
  const auto found = regrets(regret, [&](size_t done, size_t total) { line(done, total); });
  if (found.empty()) throw Error("--regret: all tables of these functions are exact");
  return regret_sections(regret, found);
}

int run_report(const ReportArguments& options, const std::string& command_line) {
  const Format format = format_of(options);
  const Order order = order_of(options);
  const Study study = options.files.empty() ? study_of(options) : Study{};
  std::vector<std::string> inputs = options.files;
  for (const std::string& file : files_of(options.weights)) inputs.push_back(file);
  check_not_input("-o", options.output, inputs);
  check_output(options.output);
  Document document{"Few-bit derivative tables",
                    "Step functions for the derivatives of activation functions: attained error, "
                    "proven lower bound, smoothed bias.",
                    {},
                    {{"command", command_line}, {"version", "fewbit-solve " FEWBIT_VERSION}}};
  if (!options.files.empty()) {
    add_results(document, read_proven(options.files), order);
  } else if (format == Format::html || (!options.paper && !options.regret)) {
    // Asked for by name, a part comes alone; a page has room for everything.
    add_results(document, solved(study, options), order);
  }
  if (options.paper) {
    Progress line("solving Table 1:");
    document.sections.push_back(
        paper_section([&](size_t done, size_t total) { line(done, total); }));
  }
  if (options.regret) {
    for (auto& section : regret_part(study)) document.sections.push_back(std::move(section));
  }
  write_output(options.output, render(document, format));
  return 0;
}

/// Table files hold their problems: options that state problems would be ignored.
void refuse_problems(const CLI::App& command) {
  for (const char* option : {"--fn", "--expr", "--name", "--bits", "--form", "--objective",
                             "--weight", "--domain", "--regret"}) {
    if (command.count(option) == 0) continue;
    throw UsageError(std::string(option) +
                     " does not go with table files: they hold their problems");
  }
}

}  // namespace

Subcommand add_report(CLI::App& app, const std::string& command_line) {
  const auto options = std::make_shared<ReportArguments>();
  CLI::App* command = app.add_subcommand(
      "report", "Compare tables: errors, gaps, pictures, as Markdown, CSV or HTML");
  ReportArguments& to = *options;
  const auto add = [&](const char* name, const char* value, auto& place, const char* help) {
    auto* option = command->add_option(name, place, help)->type_name(value);
    if (option->get_items_expected_max() > 1) option->allow_extra_args(false);
  };
  command->add_option("FILE", to.files, "Tables: report on these, proven again, and solve nothing");
  add("--fn", "LIST", to.functions,
      "Functions with commas between, or all (default, but with --expr)");
  add("--expr", "EXPRESSION", to.expressions, "A function of your own in terms of x, repeatable");
  add("--name", "NAME", to.names, "What to call it; one for each --expr, in their order");
  add("--bits", "LIST", to.bits, "Such as 3, 1-4 (default) or 1,2,8");
  add("--form", "LIST", to.forms, "levels (default), intervals, unbiased: a list");
  add("--objective", "OBJECTIVE", to.objectives,
      "squared (default) or smoothed[:...], may be repeated");
  add("--weight", "WEIGHT", to.weights, "As for solving, may be repeated");
  add("--domain", "LO,HI", to.domain, "As for solving");
  add("--sort", "ORDER", to.order,
      "Functions by error (default), bias or gap, largest first; by name; as given");
  add("--format", "FORMAT", to.format, "md, csv or html, else by the ending of -o");
  command->add_flag("--table1", to.paper, "The paper's Table 1 beside ours");
  command->add_flag("--regret", to.regret,
                    "What mixture tables lose on inputs of one sigma, for many ranges");
  add("-o,--output", "PATH", to.output, "Write here instead of standard output (-)");
  command->footer(R"(--table1 and --regret come alone in Markdown and CSV; in HTML they are added.
CSV starts with lines "# ..." that say where it comes from.
Examples:
  fewbit-solve report --table1
  fewbit-solve report --fn gelu,silu --form intervals,levels -o errors.md
  fewbit-solve report --expr 'x*sigmoid(1.702*x)' --name my_act --fn gelu -o mine.html
  fewbit-solve report layer1.json layer2.json --sort given -o layers.html
  fewbit-solve report --fn gelu --bits 1-8 --weight uniform --weight normal:0,1 -o gelu.csv
  fewbit-solve report --table1 --regret -o report.html)");
  return {command, [options, command, command_line] {
            if (!options->files.empty()) refuse_problems(*command);
            return run_report(*options, command_line);
          }};
}

}  // namespace fewbit::solver

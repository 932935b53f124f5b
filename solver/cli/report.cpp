#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/parse_options.hpp"
#include "cli/progress.hpp"
#include "functions/registry.hpp"
#include "report/document.hpp"
#include "report/error_report.hpp"
#include "report/paper_table.hpp"
#include "report/regret.hpp"
#include "report/study.hpp"
#include "weights/parse.hpp"

namespace fewbit::solver {

namespace {

struct Options {
  std::string functions = "all";
  std::string bits = "1-4";
  std::string forms = "levels";
  std::vector<std::string> objectives;
  std::vector<std::string> weights;
  std::string domain;
  std::string format;
  std::string output;
  bool paper = false;
  bool regret = false;
};

enum class Format { markdown, csv, html };

Format format_of(const Options& options) {
  std::string name = options.format;
  const size_t dot = options.output.rfind('.');
  if (name.empty() && dot != std::string::npos) name = options.output.substr(dot + 1);
  if (name.empty() || name == "md") return Format::markdown;
  if (name == "csv") return Format::csv;
  if (name == "html") return Format::html;
  const char* option = options.format.empty() ? "-o (its ending)" : "--format";
  throw UsageError(std::string(option) + ": '" + name +
                   "' is not accepted; expected md, csv or html");
}

/// A comma after "elu:alpha=1" continues the parameters when "name=" follows.
std::vector<FunctionSpec> functions_of(const std::string& text) {
  std::vector<std::string> names;
  if (text == "all") {
    for (const auto& info : registry()) names.push_back(info.name);
  } else {
    for (const auto& part : split_list(text, "--fn")) {
      const bool parameter = part.find('=') < part.find(':');
      if (parameter && !names.empty()) {
        names.back() += "," + part;
      } else {
        names.push_back(part);
      }
    }
  }
  std::vector<FunctionSpec> functions;
  try {
    for (const auto& name : names) functions.push_back(parse_function(name));
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  return functions;
}

Study study_of(const Options& options) {
  Study study;
  study.functions = functions_of(options.functions);
  study.levels = parse_bits_list(options.bits);
  study.forms.clear();
  for (const auto& form : split_list(options.forms, "--form")) {
    study.forms.push_back(parse_form(form));
  }
  if (!options.objectives.empty()) study.objectives.clear();
  for (const auto& text : options.objectives) study.objectives.push_back(parse_objective(text));
  if (!options.domain.empty()) study.domain = parse_domain(options.domain);
  if (!options.weights.empty()) study.weights.clear();
  for (const auto& text : options.weights) study.weights.push_back(parse_weight(text));
  return study;
}

std::vector<Section> error_part(const Study& study, const ProgressCall& progress) {
  const auto results = solve_all(problems_of(study), progress);
  for (const auto& result : results) {
    if (result.table) return error_sections(results);
  }
  throw Error(results.front().failure);
}

std::string render(const Document& document, Format format) {
  if (format == Format::csv) return to_csv(document);
  return format == Format::html ? to_html(document) : to_markdown(document);
}

int run(const Options& options) {
  const Format format = format_of(options);
  const Study study = study_of(options);
  Document document{"Few-bit derivative tables",
                    "Step functions for the derivatives of activation functions: attained error, "
                    "proven lower bound, smoothed bias.",
                    {}};
  const auto add = [&](std::vector<Section> sections) {
    for (auto& section : sections) document.sections.push_back(std::move(section));
  };
  // Asked for by name, a table comes alone; a page has room for everything.
  if (format == Format::html || (!options.paper && !options.regret)) {
    Progress line("solving");
    add(error_part(study, [&](size_t done, size_t total) { line(done, total); }));
  }
  if (options.paper) {
    Progress line("solving Table 1:");
    add({paper_section([&](size_t done, size_t total) { line(done, total); })});
  }
  if (options.regret) {
    Progress line("solving for regret:");
    RegretStudy regret;
    regret.functions = study.functions;
    regret.levels = study.levels;
    const auto found = regrets(regret, [&](size_t done, size_t total) { line(done, total); });
    if (found.empty()) throw Error("--regret: all tables of these functions are exact");
    add(regret_sections(regret, found));
  }
  write_output(options.output, render(document, format));
  return 0;
}

}  // namespace

Subcommand add_report(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "report", "Compare tables: errors, gaps, pictures, as Markdown, CSV or HTML");
  command->add_option("--fn", options->functions, "Functions with commas between, or all (default)")
      ->type_name("LIST");
  command->add_option("--bits", options->bits, "Such as 3, 1-4 (default) or 1,2,8")
      ->type_name("LIST");
  command->add_option("--form", options->forms, "levels (default), intervals, unbiased: a list")
      ->type_name("LIST");
  command
      ->add_option("--objective", options->objectives,
                   "squared (default) or smoothed[:...], may be repeated")
      ->type_name("OBJECTIVE")
      ->allow_extra_args(false);
  command->add_option("--weight", options->weights, "As for solving, may be repeated")
      ->type_name("WEIGHT")
      ->allow_extra_args(false);
  command->add_option("--domain", options->domain, "As for solving")->type_name("LO,HI");
  command->add_option("--format", options->format, "md, csv or html, else by the ending of -o")
      ->type_name("FORMAT");
  command->add_flag("--table1", options->paper, "The paper's Table 1 beside ours");
  command->add_flag("--regret", options->regret,
                    "What mixture tables lose on inputs of one sigma, for many ranges");
  command->add_option("-o,--output", options->output, "Write here instead of standard output")
      ->type_name("PATH");
  command->footer(R"(--table1 and --regret come alone in Markdown and CSV; in HTML they are added.
Examples:
  fewbit-solve report --table1
  fewbit-solve report --fn gelu,silu --form intervals,levels -o errors.md
  fewbit-solve report --fn gelu --bits 1-8 --weight uniform --weight normal:0,1 -o gelu.csv
  fewbit-solve report --table1 --regret -o report.html)");
  return {command, [options] { return run(*options); }};
}

}  // namespace fewbit::solver

#include "verify/verify.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "report/parallel.hpp"

namespace fewbit::solver {

namespace {

struct VerifyArguments {
  std::vector<std::string> files;
  bool verbose = false;
  bool canonical = false;
};

struct Verdict {
  std::vector<Finding> findings;
  std::string failure;  ///< the file could not even be read

  bool good() const {
    return failure.empty() && std::all_of(findings.begin(), findings.end(),
                                          [](const Finding& finding) { return finding.holds; });
  }
};

Verdict verdict_of(const std::string& file, bool canonical) {
  try {
    return {verify_file(file, canonical), {}};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

std::string text_of(const std::string& file, const Verdict& verdict, bool verbose) {
  if (!verdict.failure.empty()) {
    const bool named = verdict.failure.starts_with(file);
    return "FAILED  " + (named ? "" : file + ": ") + verdict.failure + "\n";
  }
  std::string text = (verdict.good() ? "ok      " : "FAILED  ") + file;
  std::string details;
  for (const auto& finding : verdict.findings) {
    const bool remark = finding.claim == "text" && finding.detail != "canonical";
    if (!finding.holds || remark) text += fmt::format("; {}: {}", finding.claim, finding.detail);
    details += fmt::format("    {} {}{}{}\n", finding.holds ? "holds " : "FAILED", finding.claim,
                           finding.detail.empty() ? "" : ": ", finding.detail);
  }
  return text + "\n" + (verbose ? details : "");
}

int run_verify(const VerifyArguments& options) {
  std::vector<Verdict> verdicts(options.files.size());
  {
    Progress progress("verifying");
    parallel_for(
        verdicts.size(),
        [&](size_t i) { verdicts[i] = verdict_of(options.files[i], options.canonical); },
        [&](size_t done, size_t total) { progress(done, total); });
  }
  size_t failed = 0;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    failed += !verdicts[i].good();
    if (verdicts[i].good() && is_quiet()) continue;
    print(text_of(options.files[i], verdicts[i], options.verbose));
  }
  if (failed == 0) return 0;
  throw Error(fmt::format("{} of {} failed", failed, counted(verdicts.size(), "file")));
}

}  // namespace

Subcommand add_verify(CLI::App& app) {
  const auto options = std::make_shared<VerifyArguments>();
  CLI::App* command = app.add_subcommand(
      "verify", "Prove tables again with code that shares nothing with the search");
  command->add_option("FILE", options->files, "Tables")->required()->type_name("");
  command->add_flag("-v,--verbose", options->verbose, "Print all that was checked, with figures");
  command->add_flag("--canonical", options->canonical,
                    "Fail also where only the white space differs from the canonical text");
  command->footer(R"(What is checked, with its own quadrature and its own branch and bound:
  text           the bytes are those that fewbit-solve writes for this table; a file that differs
                 in white space alone is accepted, and that is said, unless --canonical insists
  symmetry       f' is even where the table says so
  levels         each is the mean of f' over its set; of the form unbiased the outer ones are the
                 range of f' and the inner ones are stationary
  midpoints      f' meets the midpoint of its levels at each threshold
  codes          each names the nearest level, and no crossing is missing
  thresholds, stationary         in the place of these three for smoothed tables: a minimum, from
                 which Newton's method moves no threshold
  error          recomputed
  residual       the largest violation of these conditions, recomputed
  relative_gap   follows from error and lower bound
  lower_bound    no table of this form and size is shown to have less
  smoothed_bias  recomputed
Exit code 0: all tables hold. 1: one fails or cannot be read; every file is looked at. 2: the
command line is wrong. One line for each file; with --quiet only for those that fail.
Examples:
  fewbit-solve verify tables/gelu/*.json
  fewbit-solve verify -v gelu.json
  fewbit-solve verify --canonical --quiet tables/*/*.json)");
  return {command, [options] { return run_verify(*options); }};
}

}  // namespace fewbit::solver

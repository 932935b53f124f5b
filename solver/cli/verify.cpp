#include "verify/verify.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "report/parallel.hpp"

namespace fewbit::solver {

namespace {

struct Options {
  std::vector<std::string> files;
  bool verbose = false;
};

struct Verdict {
  std::vector<Finding> findings;
  std::string failure;  ///< the file could not even be read

  bool good() const {
    return failure.empty() && std::all_of(findings.begin(), findings.end(),
                                          [](const Finding& finding) { return finding.holds; });
  }
};

Verdict verdict_of(const std::string& file) {
  try {
    return {verify_file(file), {}};
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
    if (!finding.holds) text += fmt::format("; {}: {}", finding.claim, finding.detail);
    details += fmt::format("    {} {}{}{}\n", finding.holds ? "holds " : "FAILED", finding.claim,
                           finding.detail.empty() ? "" : ": ", finding.detail);
  }
  return text + "\n" + (verbose ? details : "");
}

int run(const Options& options) {
  std::vector<Verdict> verdicts(options.files.size());
  {
    Progress progress("verifying");
    parallel_for(
        verdicts.size(), [&](size_t i) { verdicts[i] = verdict_of(options.files[i]); },
        [&](size_t done, size_t total) { progress(done, total); });
  }
  size_t failed = 0;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    failed += !verdicts[i].good();
    print(text_of(options.files[i], verdicts[i], options.verbose));
  }
  if (failed == 0) return 0;
  throw Error(fmt::format("{} of {} files failed", failed, verdicts.size()));
}

}  // namespace

Subcommand add_verify(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "verify", "Prove tables again with code that shares nothing with the search");
  command->add_option("FILE", options->files, "Tables")->required();
  command->add_flag("-v,--verbose", options->verbose, "Print all findings");
  command->footer(R"(One line per file; exit code 1 if any table fails.
Examples:
  fewbit-solve verify tables/gelu/*.json
  fewbit-solve verify -v gelu.json)");
  return {command, [options] { return run(*options); }};
}

}  // namespace fewbit::solver

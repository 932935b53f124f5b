#include "cli/table_files.hpp"

#include "base/error.hpp"
#include "cli/progress.hpp"
#include "report/parallel.hpp"
#include "table/json.hpp"
#include "verify/verify.hpp"

namespace fewbit::solver {

namespace {

std::vector<Finding> findings_of(const Table& table, const std::string& file) {
  try {
    return verify_table(table);
  } catch (const Error& error) {
    throw Error(error.what(), file);
  }
}

Result read_one(const std::string& file) {
  const Table table = read_table(file);
  for (const auto& finding : findings_of(table, file)) {
    if (finding.holds) continue;
    throw Error("does not verify: " + finding.claim + ": " + finding.detail, file);
  }
  return {table.problem, table, {}, file};
}

}  // namespace

std::vector<Result> read_proven(const std::vector<std::string>& files) {
  std::vector<Result> results(files.size());
  Progress progress("verifying");
  parallel_for(
      files.size(), [&](size_t i) { results[i] = read_one(files[i]); },
      [&](size_t done, size_t total) { progress(done, total); });
  return results;
}

}  // namespace fewbit::solver

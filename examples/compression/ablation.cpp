// Which operations carry the loss: trainings in which what one of them keeps is coded alone, beside
// all of them. Short: one seed, fewer steps, the convolutional network.
#include <iostream>
#include <map>

#include "examples/compression/course.hpp"
#include "examples/support/page.hpp"

namespace fewbit::examples {
namespace {

// Bytes that exact training keeps for what each operation has coded.
std::map<std::string, int64_t> bytes_by_operation(const Run& run) {
  std::map<std::string, int64_t> bytes;
  for (const Compressor::Site& site : run.sites) {
    if (site.error > 0.0) bytes[site.operation] += site.bytes_before;
  }
  return bytes;
}

Sheet as_sheet(const std::string& model, const std::vector<Result>& results) {
  Sheet sheet{"Loss at the end: " + model,
              {"coded", "bytes that it keeps exact", "above exact", "spread", "bytes kept"},
              {}};
  const std::map<std::string, int64_t> bytes = bytes_by_operation(results[1].runs[0]);
  for (const Result& result : results) {
    const std::vector<double> distance = above(result, results[0]);
    const auto own = result.variant.coding ? bytes.find(result.variant.coding->alone) : bytes.end();
    sheet.rows.push_back({result.variant.name(),
                          own == bytes.end() ? "-" : std::to_string(own->second),
                          number(mean(distance)), number(deviation(distance)),
                          std::to_string(result.runs[0].bytes)});
  }
  return sheet;
}

// Exact, everything coded, and every operation alone.
std::vector<Result> ablate(const Course& course, double bits, uint64_t seeds) {
  std::vector<Result> results;
  results.push_back(run(course, {}, seeds));
  results.push_back(run(course, {Coding{"all", {}, {}}, bits}, seeds));
  for (const auto& [operation, bytes] : bytes_by_operation(results[1].runs[0])) {
    Coding coding{operation, {}, {}};
    coding.alone = operation;
    results.push_back(run(course, {coding, bits}, seeds));
  }
  return results;
}

void check(const std::string& model, const std::vector<Result>& results, Outcome& outcome) {
  const Run& all = results[1].runs[0];
  for (size_t i = 2; i < results.size(); ++i) {
    const Run& one = results[i].runs[0];
    outcome.expect(
        one.bytes > all.bytes && one.bytes < results[0].runs[0].bytes,
        model + ", " + results[i].variant.name() + ": keeps less than exact, more than all");
  }
  outcome.expect(results.size() > 3, model + ": several operations have errors");
}

int ablation(const Arguments& arguments) {
  const int64_t steps = arguments.is_long ? 400 : 60;
  const uint64_t seeds = arguments.is_long ? 5 : 1;
  std::vector<Course> courses{{"cnn", "gelu", {"adam", 1e-3, steps}}};
  if (arguments.is_long) {
    courses.push_back({"normed cnn", "relu", {"adam", 1e-3, steps}});
    courses.push_back({"transformer", "gelu", {"adam", 2e-3, steps}});
  }
  Page page("Ablation: which operations carry the loss");
  Outcome outcome;
  page.add(std::to_string(steps) + " steps, " + std::to_string(seeds) +
           " paired seeds, networks and figures as in compression; of all that is kept what one "
           "operation keeps is coded alone, in so many bits on its average, by the default codec. "
           "The codes of activations stay in every row but the exact one.");
  for (const Course& course : courses) {
    for (const double bits : {1.0, 2.0, 3.0}) {
      if (!arguments.is_long && bits != 2.0) continue;
      const std::vector<Result> results = ablate(course, bits, seeds);
      const Sheet sheet = as_sheet(course.name() + ", average bits " + number(bits), results);
      page.add(sheet);
      std::cout << markdown(sheet);
      check(course.name(), results, outcome);
    }
  }
  if (!arguments.folder.empty()) page.write(arguments.folder, "ablation");
  return outcome.exit_code();
}

}  // namespace
}  // namespace fewbit::examples

int main(int count, char** values) {
  return fewbit::examples::run_example(count, values, fewbit::examples::ablation);
}

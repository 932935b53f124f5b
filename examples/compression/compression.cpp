// What training loses where everything that a model keeps for backward is coded: loss above exact
// against the average bits of an element, for the library's own codec and for equal steps between
// extremes (ActNN's), beside what rounding alone does. Paired seeds: the same first parameters and
// batches for every run of one. Short: one seed, fewer steps and bits.
#include <cmath>
#include <ctime>
#include <iostream>
#include <map>
#include <memory>

#include "examples/compression/plans.hpp"
#include "examples/support/page.hpp"
#include "examples/support/subject.hpp"
#include "fewbit/compressor.hpp"
#include "fewbit/saved_bytes.hpp"

namespace fewbit::examples {
namespace {

constexpr size_t kTail = 100;
constexpr const char* kFunction = "gelu";

struct Coding {
  const char* name;
  Scheme scheme;
  int trellis;
  bool runs_layers_again;
};

constexpr Coding kCodings[] = {{"rotated", Scheme::rotated, 0, false},
                               {"rotated, trellis", Scheme::rotated, 4, false},
                               {"rotated, layers again", Scheme::rotated, 0, true},
                               {"group", Scheme::group, 0, false}};

struct Way {
  double bits;  // 0: exact
  Coding coding = kCodings[0];
  bool is_nudged = false;

  std::string name() const {
    if (bits == 0.0) return is_nudged ? "exact, nudged" : "exact";
    return coding.name + (", " + number(bits)) + (bits == 1.0 ? " bit" : " bits");
  }
};

struct Run {
  double loss;
  int64_t bytes;  // kept after a forward
  double seconds;
  std::string report;
};

struct Result {
  Way way;
  std::vector<Run> runs;  // by seed
};

// What one forward keeps, the bits split as in the steps before.
int64_t kept(const BatchLoss& loss, const Activate& activate, int64_t step) {
  SavedBytes meter;
  const auto watch = meter.watch();
  const at::Tensor value = loss(step, activate);
  return meter.unique_bytes();
}

// What is trained, and how.
struct Course {
  std::string model;
  Recipe recipe;

  std::string name() const { return model + ", " + recipe.optimizer; }
};

Run run(const Course& course, const Way& way, uint64_t seed) {
  Subject subject = make_subject(course.model, kFunction, seed);
  const int64_t steps = course.recipe.steps;
  if (way.is_nudged) nudge(subject.parameters, seed);
  const Activate activate = exact(kFunction).activate;
  Compressor compressor({.bits = way.bits == 0.0 ? 1.0 : way.bits,
                         .scheme = way.coding.scheme,
                         .activation_bits = 3,
                         .trellis = way.coding.trellis});
  if (way.coding.runs_layers_again) {
    for (const char* name : {"linear", "activation"}) compressor.derive(name, Derive::where_better);
  }
  BatchLoss loss = subject.loss;
  if (way.bits > 0.0) {
    loss = [&](int64_t step, const Activate& function) {
      const CompressionScope scope(compressor);
      return subject.loss(step, function);
    };
  }
  const std::clock_t begin = std::clock();
  const std::vector<double> losses = train(subject.parameters, loss, activate, course.recipe);
  // Of the processor: others may be at work beside.
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const Run result{tail_mean(losses, kTail), kept(loss, activate, steps), seconds,
                   compressor.report()};
  std::cerr << course.name() << ", seed " << seed << ", " << way.name() << ": "
            << number(result.loss, 5) << ", " << result.bytes << " bytes\n";
  return result;
}

// Of the runs of a way, minus the exact ones of the same seeds.
std::vector<double> above(const Result& result, const Result& exact_runs) {
  std::vector<double> differences;
  for (size_t i = 0; i < result.runs.size(); ++i) {
    differences.push_back(result.runs[i].loss - exact_runs.runs[i].loss);
  }
  return differences;
}

double seconds(const Result& result) {
  double sum = 0.0;
  for (const Run& one : result.runs) sum += one.seconds;
  return sum;
}

Sheet as_sheet(const std::string& model, const std::vector<Result>& results) {
  Sheet sheet{
      "Loss at the end: " + model,
      {"kept", "loss", "above exact", "spread", "bytes", "of exact", "processor time of exact"},
      {}};
  const Result& plain = results[0];
  for (const Result& result : results) {
    std::vector<double> losses;
    for (const Run& one : result.runs) losses.push_back(one.loss);
    const std::vector<double> distance = above(result, plain);
    const double bytes = static_cast<double>(result.runs[0].bytes);
    sheet.rows.push_back({result.way.name(), number(mean(losses), 5), number(mean(distance)),
                          number(deviation(distance)), std::to_string(result.runs[0].bytes),
                          number(bytes / static_cast<double>(plain.runs[0].bytes)),
                          number(seconds(result) / seconds(plain))});
  }
  return sheet;
}

Chart as_chart(const std::string& model, const std::vector<Result>& results) {
  Chart chart{model + ": loss above exact", "average bits of an element", "nats", {}};
  std::map<std::string, Line> lines;
  for (const Result& result : results) {
    if (result.way.bits == 0.0) continue;
    Line& line = lines[result.way.coding.name];
    line.name = result.way.coding.name;
    const double distance = mean(above(result, results[0]));
    if (std::isfinite(distance)) line.points.emplace_back(result.way.bits, distance);
  }
  for (auto& [name, line] : lines) chart.lines.push_back(std::move(line));
  return chart;
}

void check(const std::string& model, const std::vector<Result>& results, Outcome& outcome) {
  const Result& plain = results[0];
  const double exact_loss = plain.runs[0].loss;
  for (const Result& result : results) {
    if (result.way.bits < 2.0) continue;
    const double distance = mean(above(result, plain));
    const bool is_ours = result.way.coding.scheme == Scheme::rotated;
    const double share = is_ours ? 0.06 : 0.3;
    outcome.expect(distance < share * exact_loss,
                   model + ", " + result.way.name() + ": ends " + number(distance) +
                       " above exact, less than " + number(100 * share) + " %");
    const double less =
        static_cast<double>(plain.runs[0].bytes) / static_cast<double>(result.runs[0].bytes);
    outcome.expect(less > 14.0 / result.way.bits,
                   model + ", " + result.way.name() + ": keeps " + number(less) + " times less");
  }
}

int compression(const Arguments& arguments) {
  const int64_t steps = arguments.is_long ? 400 : 150;
  const uint64_t seeds = arguments.is_long ? 5 : 1;
  const std::vector<double> widths =
      arguments.is_long ? std::vector<double>{1.0, 1.5, 2.0, 3.0, 4.0} : std::vector<double>{2.0};
  std::vector<Way> ways{{0.0}, {0.0, kCodings[0], true}};
  for (const Coding& coding : kCodings) {
    for (const double bits : widths) ways.push_back({bits, coding});
  }
  Page page("Compression: loss with few bits of all that is kept");
  Outcome outcome;
  std::vector<Sheet> sheets;
  std::vector<Course> courses{{"transformer", {"adam", 2e-3, steps}},
                              {"cnn", {"adam", 1e-3, steps}}};
  if (arguments.is_long) {
    courses.push_back({"transformer", {"sgd", 0.2, steps}});
    courses.push_back({"cnn", {"sgd", 0.03, steps}});
  }
  for (const Course& course : courses) {
    const std::string model = course.name();
    std::vector<Result> results;
    for (const Way& way : ways) {
      Result result{way, {}};
      for (uint64_t seed = 1; seed <= seeds; ++seed) {
        result.runs.push_back(run(course, way, seed));
      }
      results.push_back(std::move(result));
    }
    page.add(as_chart(model, results));
    sheets.push_back(as_sheet(model, results));
    std::cout << markdown(sheets.back());
    check(model, results, outcome);
  }
  page.add(
      std::to_string(steps) + " steps of Adam, and of SGD with momentum, " + std::to_string(seeds) +
      " paired seeds; rotated: the default; with a trellis of 4 states; with outputs of layers and "
      "activations computed again; a transformer of two blocks of "
      "width 48 on the licences of "
      "/usr/share/common-licenses, and two convolutions on digits, both with GELU in 3 bits; "
      "nudged: every first parameter moved to a neighbouring float. Loss: mean of the last "
      "100 steps, in nats (nan: it diverged); bytes: all that autograd keeps of a forward, "
      "parameters left out.");
  for (const Sheet& sheet : sheets) page.add(sheet);
  add_plans(page, outcome);
  if (!arguments.folder.empty()) page.write(arguments.folder, "compression");
  return outcome.exit_code();
}

}  // namespace
}  // namespace fewbit::examples

int main(int count, char** values) {
  return fewbit::examples::run_example(count, values, fewbit::examples::compression);
}

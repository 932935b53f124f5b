// What training loses where everything that a model keeps for backward is coded: loss above exact
// against the bytes kept, for the library's own codec, for equal steps between extremes and for the
// schemes of four papers, beside what rounding alone does. Paired seeds: the same first parameters
// and batches for every run of one. Short: one seed, fewer steps and bits, no papers.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "examples/compression/course.hpp"
#include "examples/support/page.hpp"

namespace fewbit::examples {
namespace {

// Below this a loss above exact is noise on a logarithmic axis.
constexpr double kLeastShown = 1e-4;

std::vector<Coding> codings(bool is_long) {
  const std::vector<double> widths =
      is_long ? std::vector{1.0, 1.5, 2.0, 3.0, 4.0} : std::vector{2.0};
  std::vector<Coding> all = {{"rotated", {}, widths},
                             {"rotated, trellis", {.trellis = 4}, widths},
                             {"rotated, layers recomputed", {}, widths, true},
                             {"group", {.scheme = Scheme::group}, widths}};
  if (!is_long) return all;
  all[0].bits.push_back(8.0);
  all.push_back({"actnn, level 2", {.scheme = Scheme::actnn, .level = 2}, {4.0}});
  all.push_back({"actnn, level 3", {.scheme = Scheme::actnn, .level = 3}, {1.5, 2.0}});
  all.push_back({"gact", {.scheme = Scheme::gact}, {2.0, 4.0}});
  all.push_back({"division", {.scheme = Scheme::division}, {2.0}});
  all.push_back({"blpa", {.scheme = Scheme::blpa}, {4.0, 8.0}});
  return all;
}

Sheet as_sheet(const std::string& model, const std::vector<Result>& results) {
  Sheet sheet{
      "Loss at the end: " + model,
      {"kept", "loss", "above exact", "spread", "accuracy, %", "spread of it", "bytes", "of exact"},
      {}};
  const Result& plain = results[0];
  for (const Result& result : results) {
    std::vector<double> losses, accuracies;
    for (const Run& one : result.runs) {
      losses.push_back(one.loss);
      accuracies.push_back(one.accuracy);
    }
    const std::vector<double> distance = above(result, plain);
    const double bytes = static_cast<double>(result.runs[0].bytes);
    sheet.rows.push_back({result.variant.name(), number(mean(losses), 5), number(mean(distance)),
                          number(deviation(distance)), number(mean(accuracies), 4),
                          number(deviation(accuracies), 2), std::to_string(result.runs[0].bytes),
                          number(bytes / static_cast<double>(plain.runs[0].bytes))});
  }
  return sheet;
}

Chart as_chart(const std::string& model, const std::vector<Result>& results) {
  Chart chart{model + ": loss above exact, nats", "bytes kept, % of exact", "nats", {}, true};
  const auto exact_bytes = static_cast<double>(results[0].runs[0].bytes);
  for (const Result& result : results) {
    if (!result.variant.coding) continue;
    const std::string& name = result.variant.coding->name;
    if (chart.lines.empty() || chart.lines.back().name != name) chart.lines.push_back({name, {}});
    const double distance = mean(above(result, results[0]));
    if (!std::isfinite(distance)) continue;
    const double share = 100.0 * static_cast<double>(result.runs[0].bytes) / exact_bytes;
    chart.lines.back().points.emplace_back(share, std::max(distance, kLeastShown));
  }
  for (Line& line : chart.lines) line.joined = line.points.size() > 1;
  return chart;
}

// Whether something of ours keeps no more, but for the bytes of constants, and loses no more: by
// two standard errors of the paired differences, or what is noise anyway.
bool is_beaten(const Result& result, const std::vector<Result>& results) {
  const auto bytes = static_cast<double>(result.runs[0].bytes);
  if (!std::isfinite(mean(above(result, results[0])))) return true;
  return std::ranges::any_of(results, [&](const Result& ours) {
    if (!ours.variant.coding || !ours.variant.coding->is_ours()) return false;
    if (static_cast<double>(ours.runs[0].bytes) > 1.01 * bytes) return false;
    const std::vector<double> difference = above(ours, result);
    const double error = deviation(difference) / std::sqrt(static_cast<double>(difference.size()));
    return mean(difference) <= kLeastShown + 2.0 * error;
  });
}

void check(const std::string& model, const std::vector<Result>& results, Outcome& outcome) {
  const Result& plain = results[0];
  const double exact_loss = plain.runs[0].loss;
  for (const Result& result : results) {
    if (!result.variant.coding) continue;
    const bool is_ours = result.variant.coding->is_ours();
    if (!is_ours) {
      outcome.expect(is_beaten(result, results), model + ", " + result.variant.name() +
                                                     ": one of ours keeps and loses no more");
    }
    if (result.variant.bits < 2.0) continue;
    if (!is_ours && result.variant.coding->options.scheme != Scheme::group) continue;
    const double distance = mean(above(result, plain));
    const double share = is_ours ? 0.06 : 0.3;
    outcome.expect(distance < share * exact_loss,
                   model + ", " + result.variant.name() + ": ends " + number(distance) +
                       " above exact, less than " + number(100 * share) + " %");
    const double less =
        static_cast<double>(plain.runs[0].bytes) / static_cast<double>(result.runs[0].bytes);
    outcome.expect(
        less > 14.0 / result.variant.bits,
        model + ", " + result.variant.name() + ": keeps " + number(less) + " times less");
  }
}

int compression(const Arguments& arguments) {
  const int64_t steps = arguments.is_long ? 400 : 150;
  const uint64_t seeds = arguments.is_long ? 5 : 1;
  std::vector<Variant> variants{{}, {.is_nudged = true}};
  for (const Coding& coding : codings(arguments.is_long)) {
    for (const double bits : coding.bits) variants.push_back({coding, bits});
  }
  Page page("Compression: loss with few bits of all that is kept");
  Outcome outcome;
  std::vector<Sheet> sheets;
  std::vector<Course> courses{{"transformer", "gelu", {"adam", 2e-3, steps}},
                              {"cnn", "gelu", {"adam", 1e-3, steps}}};
  if (arguments.is_long) {
    courses.push_back({"normed cnn", "relu", {"adam", 1e-3, steps}});
    courses.push_back({"transformer", "gelu", {"sgd", 0.2, steps}});
    courses.push_back({"cnn", "gelu", {"sgd", 0.03, steps}});
    courses.push_back({"normed cnn", "relu", {"sgd", 0.03, steps}});
  }
  for (const Course& course : courses) {
    const std::string model = course.name();
    std::vector<Result> results;
    for (const Variant& variant : variants) {
      results.push_back(run(course, variant, seeds));
    }
    page.add(as_chart(model, results));
    sheets.push_back(as_sheet(model, results));
    std::cout << markdown(sheets.back());
    check(model, results, outcome);
  }
  page.add(
      std::to_string(steps) + " steps of Adam, and of SGD with momentum, " + std::to_string(seeds) +
      " paired seeds; rotated: the default; with a trellis of 4 states; with outputs of layers and "
      "activations recomputed; group: equal steps; actnn, gact, division, blpa: schemes of the "
      "papers (fewbit/compressor.hpp). A transformer of two blocks of width 48 on the licences of "
      "/usr/share/common-licenses, and two convolutions on digits, both with GELU; the "
      "same with batch norms and ReLU (normed); nudged: every first parameter moved to a "
      "neighbouring float. Loss: mean of the last "
      "100 steps, in nats (nan: it diverged), in the pictures at least 1e-4; accuracy: of held-out "
      "pictures, or of bytes after pieces of the text drawn apart; bytes: all that "
      "autograd keeps of a forward, "
      "parameters left out. Times and peaks of steps are in bench/results/steps.md.");
  for (const Sheet& sheet : sheets) page.add(sheet);
  if (!arguments.folder.empty()) page.write(arguments.folder, "compression");
  return outcome.exit_code();
}

}  // namespace
}  // namespace fewbit::examples

int main(int count, char** values) {
  return fewbit::examples::run_example(count, values, fewbit::examples::compression);
}

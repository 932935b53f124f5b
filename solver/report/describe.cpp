#include "report/describe.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "proven/solve.hpp"
#include "report/curve.hpp"
#include "report/names.hpp"
#include "report/terminal_plot.hpp"

namespace fewbit::solver {

namespace {

constexpr size_t kMostRows = 48;
constexpr size_t kShownEnds = 16;

std::string header(const Table& table) {
  const Problem& problem = table.problem;
  const char* goal = problem.objective.smoothed ? "smoothed objective" : "squared error";
  std::string text =
      fmt::format("{}: f(x) = {}\n", function_name(problem.function), problem.function.expression);
  text += fmt::format("{} form, {}, weight {}, domain {}", to_string(problem.form), goal,
                      weight_name(problem.weight), domain_name(problem.domain));
  if (problem.dtype != DataType::exact) {
    text += fmt::format(", thresholds for {}", to_string(problem.dtype));
  }
  text +=
      fmt::format("\n{}, {}{}\n", size_name(table), counted(table.thresholds.size(), "threshold"),
                  table.symmetry == Symmetry::even ? " on |x|" : "");
  return text;
}

/// Columns that a row of the table takes; on fewer it goes without bits and with fewer digits.
constexpr int kRowWidth = 68;

std::string narrow_row(const Table& table, size_t i) {
  const size_t last = table.thresholds.size();
  const bool even = table.symmetry == Symmetry::even;
  const std::string lo =
      i > 0 ? fmt::format("{:.5g}", table.thresholds[i - 1]) : std::string(even ? "0" : "-inf");
  const std::string hi = i < last ? fmt::format("{:.5g}", table.thresholds[i]) : "inf";
  const int code = table.codes[i];
  return fmt::format("{:>10}, {:<10} {:>3} {:>11.5g}\n", (i == 0 && even ? "[" : "(") + lo,
                     hi + (i < last ? "]" : ")"), code, table.levels[static_cast<size_t>(code)]);
}

std::string interval_row(const Table& table, size_t i) {
  const size_t last = table.thresholds.size();
  const bool even = table.symmetry == Symmetry::even;
  const std::string lo =
      i > 0 ? fmt::format("{:.8g}", table.thresholds[i - 1]) : std::string(even ? "0" : "-inf");
  const std::string hi = i < last ? fmt::format("{:.8g}", table.thresholds[i]) : "inf";
  const int code = table.codes[i];
  return fmt::format("  {:>15}, {:<15} {:>5} {:>8} {:>15.8g}\n", (i == 0 && even ? "[" : "(") + lo,
                     hi + (i < last ? "]" : ")"), code, fmt::format("{:0{}b}", code, table.bits()),
                     table.levels[static_cast<size_t>(code)]);
}

std::string level_row(const Table& table, size_t i) {
  return fmt::format("  {:>5} {:>8} {:>15.8g}\n", i, fmt::format("{:0{}b}", i, table.bits()),
                     table.levels[i]);
}

/// All rows, or both ends where there are too many.
template <class Row>
std::string rows(size_t count, const Row& row) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    if (count > kMostRows && i == kShownEnds) {
      text += fmt::format("  ... {} more rows: --json prints all ...\n", count - 2 * kShownEnds);
      i = count - kShownEnds;
    }
    text += row(i);
  }
  return text;
}

std::string body(const Table& table, int width) {
  if (table.codes.empty()) {
    std::string text = fmt::format("  {:>5} {:>8} {:>15}\n", "code", "bits", "level");
    text += rows(table.levels.size(), [&](size_t i) { return level_row(table, i); });
    return text +
           "Each x takes one of the two levels around f'(x) at random; the expectation is f'(x).\n";
  }
  const char* of = table.symmetry == Symmetry::even ? "|x| in" : "x in";
  if (width < kRowWidth) {
    const std::string head = fmt::format("{:>10}  {:<8} {:>5} {:>11}\n", of, "", "code", "level");
    return head + rows(table.codes.size(), [&](size_t i) { return narrow_row(table, i); });
  }
  std::string text =
      fmt::format("  {:>15}  {:<15} {:>5} {:>8} {:>15}\n", of, "", "code", "bits", "level");
  return text + rows(table.codes.size(), [&](size_t i) { return interval_row(table, i); });
}

/// What the error is called: of single values it is the one on the samples themselves.
const char* error_name(const Problem& problem) {
  if (problem.weight.is_discrete()) return "on the samples";
  return problem.form == Form::unbiased ? "expected error" : "squared error";
}

/// Before the figures of the histogram that stands for the samples.
std::string on_samples(const SampleError& samples) {
  return fmt::format("{:<18}{} (no table of this form and size is below {})\n", "on the samples",
                     shortest(samples.error), shortest(samples.lower_bound));
}

std::string proof(const Table& table, const std::optional<SampleError>& samples) {
  const bool smoothed = table.problem.objective.smoothed;
  std::string text = samples ? on_samples(*samples) : "";
  text += fmt::format("{:<18}{}{} (rms {})\n", error_name(table.problem), shortest(table.error),
                      samples ? " on their histogram" : "", short_number(rms_error(table)));
  if (smoothed) {
    text += fmt::format("{:<18}{}\n", "squared optimum", shortest(table.lower_bound));
    const double price = table.error == 0.0 ? 0.0 : table.error / table.lower_bound - 1.0;
    text += fmt::format("{:<18}{:.2f} % over the proven squared optimum\n", "price", 100.0 * price);
  } else {
    text += fmt::format("{:<18}{} (no table of this form and size is better)\n", "lower bound",
                        shortest(table.lower_bound));
    text += fmt::format("{:<18}{}\n", "relative gap", short_number(table.relative_gap, 3));
  }
  text += fmt::format("{:<18}{}\n", "smoothed bias", short_number(table.smoothed_bias));
  if (smoothed) {
    // Where the data tell units apart tau is not used.
    const bool units = !table.problem.weight.units.empty();
    text += fmt::format(
        "A local optimum of the smoothed objective ({}, lambda {}); only the squared optimum is "
        "proven.\n",
        units ? "each unit's own spread" : "tau " + shortest(table.problem.objective.tau),
        shortest(table.problem.objective.lambda));
  }
  return text;
}

/// For a table fitted to data: what the table for no particular data does on the same inputs.
std::string beside_default(const Table& table) {
  Problem problem = table.problem;
  if (problem.weight.kind != "histogram" && !problem.weight.is_discrete()) return {};
  problem.weight = {};
  problem.domain = {};
  problem.objective = {};
  Table other = solve(problem);
  other.problem.weight = table.problem.weight;
  other.problem.domain = table.problem.domain;
  const double error = table_error(other);
  const std::string change =
      table.error > 0.0 ? fmt::format(" ({:+.0f} %)", 100.0 * (error / table.error - 1.0)) : "";
  return fmt::format("{:<18}{} on the same inputs{}\n", "uniform table", shortest(error), change);
}

}  // namespace

double rms_error(const Table& table) {
  const double mass = weight_mass(table.problem);
  return mass > 0.0 ? std::sqrt(table.error / mass) : 0.0;
}

std::string describe(const Table& table, bool colour, int width,
                     const std::optional<SampleError>& samples) {
  const char* legend = table.codes.empty() ? "f'(x)" : "f'(x) thin, the table bold";
  return header(table) + "\n" + body(table, width) + "\n" + proof(table, samples) +
         beside_default(table) + "\n" + legend + "\n" +
         terminal_plot(sample_curve(table, 480), colour, width);
}

std::string compare(const std::vector<Table>& tables) {
  std::string text = fmt::format("  {:<22} {:>10} {:>15} {:>15} {:>15}\n", "", "thresholds",
                                 "error", "relative gap", "smoothed bias");
  for (const Table& table : tables) {
    text += fmt::format("  {:<22} {:>10} {:>15} {:>15} {:>15}\n", size_name(table),
                        table.thresholds.size(), short_number(table.error),
                        short_number(table.relative_gap, 3), short_number(table.smoothed_bias));
  }
  return text;
}

}  // namespace fewbit::solver

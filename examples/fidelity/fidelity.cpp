// How close training with few-bit derivatives stays to exact training: on an MLP (digits) and a
// small transformer (licences), GELU and SiLU, for every form, weight and bit width of the built-in
// tables. First the parameter gradients at several stages of an exact training, then trainings by
// Adam and by SGD, paired by seed, beside exact ones whose first parameters were nudged. Short: the
// MLP's gradients at one stage.
#include <algorithm>
#include <cmath>
#include <future>
#include <iostream>
#include <map>

#include <ATen/Parallel.h>

#include "examples/fidelity/study.hpp"
#include "examples/support/page.hpp"

namespace fewbit::examples {
namespace {

using Key = std::pair<int, std::string>;  // bits, form

const std::vector<std::string> kForms = {"intervals_uniform", "levels_uniform",  "levels_normal",
                                         "levels_mixture",    "smoothed_normal", "unbiased_normal"};

// SGD's rates are those that come near Adam's loss.
std::vector<Plan> make_plans(bool is_long) {
  Plan mlp{
      .model = "mlp", .forms = kForms, .stages = {60}, .batches = 64, .seeds = {}, .recipes = {}};
  if (!is_long) return {mlp};
  mlp.stages = {30, 120, 480};
  mlp.batches = 128;
  mlp.seeds = {1, 2, 3, 4, 5};
  mlp.recipes = {{"adam", 1e-3, 480}, {"sgd", 0.03, 480}};
  Plan transformer = mlp;
  transformer.model = "transformer";
  transformer.forms = {"intervals_uniform", "levels_uniform", "levels_normal", "smoothed_normal",
                       "unbiased_normal"};
  transformer.stages = {40, 400};
  transformer.batches = 64;
  transformer.recipes = {{"adam", 2e-3, 400}, {"sgd", 0.2, 400}};
  return {mlp, transformer};
}

// All beside each other, one thread each.
std::vector<Study> run_all(const std::vector<Plan>& plans) {
  std::vector<std::future<Study>> running;
  for (const Plan& plan : plans) {
    for (const char* function : {"gelu", "silu"}) {
      running.push_back(std::async(std::launch::async, [&plan, function] {
        at::set_num_threads(1);
        return run_study(function, plan);
      }));
    }
  }
  std::vector<Study> studies;
  studies.reserve(running.size());
  for (auto& study : running) studies.push_back(study.get());
  return studies;
}

Sheet stage_sheet(const Study& study) {
  Sheet sheet{"Gradients: " + study.model + ", " + study.function,
              {"table", "bits", "after steps", "bias", "floor", "noise", "cosine", "bias, Adam",
               "floor, Adam", "noise, Adam"},
              {}};
  for (const StageRow& row : study.stages) {
    const Fidelity& f = row.fidelity;
    sheet.rows.push_back({row.form, std::to_string(row.bits), std::to_string(row.stage),
                          number(f.bias), number(f.floor), number(f.noise), number(f.cosine, 6),
                          number(f.adam_bias), number(f.adam_floor), number(f.adam_noise)});
  }
  return sheet;
}

// Mean over the stages of what `value` takes from a measurement.
std::map<Key, double> over_stages(const Study& study, double Fidelity::*value) {
  std::map<Key, std::vector<double>> values;
  for (const StageRow& row : study.stages) {
    values[{row.bits, row.form}].push_back(row.fidelity.*value);
  }
  std::map<Key, double> means;
  for (const auto& [key, list] : values) means[key] = mean(list);
  return means;
}

double standard_error(const std::vector<double>& values) {
  return deviation(values) / std::sqrt(static_cast<double>(values.size()));
}

double mean_distance(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += std::abs(value);
  return sum / static_cast<double>(values.size());
}

std::string title(const Study& study, const Training& training) {
  return study.model + ", " + study.function + ", " + training.recipe.optimizer;
}

Sheet training_sheet(const Study& study, const Training& training) {
  Sheet sheet{"Training: " + title(study, training) + "; exact " + number(training.exact_loss, 5),
              {"table", "bits", "loss above exact", "standard error", "mean distance", "mean bias",
               "mean bias, Adam"},
              {{"exact, nudged", "0", number(mean(training.control)),
                number(standard_error(training.control)), number(mean_distance(training.control)),
                "-", "-"}}};
  const auto bias = over_stages(study, &Fidelity::bias);
  const auto adam = over_stages(study, &Fidelity::adam_bias);
  for (const TrainingRow& row : training.rows) {
    const Key key{row.bits, row.form};
    sheet.rows.push_back({row.form, std::to_string(row.bits), number(mean(row.above_exact)),
                          number(standard_error(row.above_exact)),
                          number(mean_distance(row.above_exact)), number(bias.at(key)),
                          number(adam.at(key))});
  }
  return sheet;
}

Chart scatter(const Study& study, const Training& training) {
  Chart chart{title(study, training) + ": gradient bias and distance from exact",
              "relative bias of the mean gradient",
              "mean |loss - exact loss|",
              {},
              true};
  const auto bias = over_stages(study, &Fidelity::bias);
  std::map<std::string, Line> lines;
  for (const TrainingRow& row : training.rows) {
    Line& line = lines[row.form];
    line.name = row.form;
    line.joined = false;
    const double x = bias.at({row.bits, row.form}), y = mean_distance(row.above_exact);
    if (x > 0 && y > 0) line.points.emplace_back(x, y);
  }
  for (const auto& [form, line] : lines) chart.lines.push_back(line);
  return chart;
}

void add_goal_rows(const Study& study, const Training& training, Sheet& sheet) {
  std::map<Key, double> distances;
  for (const TrainingRow& row : training.rows) {
    distances[{row.bits, row.form}] = mean_distance(row.above_exact);
  }
  for (const int bits : {1, 2}) {
    const double paper = distances.at({bits + 1, "intervals_uniform"});
    for (const std::string& form : kForms) {
      if (!distances.contains({bits, form})) continue;
      const double ours = distances.at({bits, form});
      sheet.rows.push_back({title(study, training), form, std::to_string(bits), number(ours),
                            number(paper), ours <= paper ? "yes" : "no"});
    }
  }
}

// The goal: one bit less than the paper's table, and no further from the exact run.
Sheet goal_sheet(const std::vector<Study>& studies) {
  Sheet sheet{"One bit less than the paper's table: mean distance of the loss from exact",
              {"training", "table", "bits", "distance", "paper's, one bit more", "met"},
              {}};
  for (const Study& study : studies) {
    for (const Training& training : study.trainings) add_goal_rows(study, training, sheet);
  }
  return sheet;
}

std::string describe(const Plan& plan) {
  std::string text = plan.model + ": gradients of " + std::to_string(plan.batches) + " batches";
  if (plan.recipes.empty()) return text + ".";
  for (const Recipe& recipe : plan.recipes) {
    text += "; trainings of " + std::to_string(recipe.steps) + " steps by " + recipe.optimizer +
            " at " + number(recipe.rate);
  }
  return text + "; " + std::to_string(plan.seeds.size()) +
         " seeds, loss as mean of the last 100 steps, minus that of the exact run with the same "
         "first parameters and batches. sgd: with momentum 0.9, at a rate that comes near adam's "
         "loss. Exact, nudged: every first parameter moved to a neighbouring float, up or down by "
         "chance, " +
         std::to_string(kControls) +
         " times for each seed: how far apart rounding alone brings two "
         "trainings.";
}

void write_page(const std::vector<Study>& studies, const std::vector<Plan>& plans,
                const std::string& folder) {
  Page page("Fidelity: few-bit derivatives against exact ones");
  page.add(
      "Same parameters and batches for every table; d is the gradient by the table minus the exact "
      "one, g. A table equal to one listed before it is left out. Bias: |mean d| / |mean g| with "
      "the noise of d taken off; floor: the bias that noise "
      "alone would show; noise: spread of d from batch to batch against that of g; Adam: each "
      "parameter in units of its gradient's root mean square.");
  for (const Plan& plan : plans) page.add(describe(plan));
  if (!plans[0].recipes.empty()) page.add(goal_sheet(studies));
  for (const Study& study : studies) {
    for (const Training& training : study.trainings) {
      page.add(scatter(study, training));
      page.add(training_sheet(study, training));
    }
    page.add(stage_sheet(study));
  }
  page.write(folder, "fidelity");
}

void check(const Study& study, Outcome& outcome) {
  const auto bias = over_stages(study, &Fidelity::bias);
  const auto floor = over_stages(study, &Fidelity::floor);
  const auto noise = over_stages(study, &Fidelity::noise);
  const std::string name = study.model + ", " + study.function + ": ";
  for (const char* form : {"intervals_uniform", "levels_normal", "smoothed_normal"}) {
    outcome.expect(bias.at({4, form}) < bias.at({1, form}),
                   name + form + " has less bias with 4 bits than with 1");
  }
  for (const int bits : {1, 2, 3, 4}) {
    const std::string width = std::to_string(bits) + " bit";
    outcome.expect(bias.at({bits, "unbiased_normal"}) < 3.0 * floor.at({bits, "unbiased_normal"}),
                   name + "unbiased, " + width + ", shows no bias beyond its noise");
    outcome.expect(noise.at({bits, "smoothed_normal"}) < 1.0,
                   name + "smoothed, " + width + ", adds less noise than the batches have");
  }
  // Which of the two is nearer to exact depends on function and model.
  outcome.expect(std::min(bias.at({2, "levels_normal"}), bias.at({2, "smoothed_normal"})) <
                     bias.at({2, "intervals_uniform"}),
                 name + "2 bit: levels or smoothed, normal, has less bias than intervals, uniform");
}

// What is read from a distance from exact has to be more than rounding.
void check(const Study& study, const Training& training, Outcome& outcome) {
  double nearest = INFINITY;
  for (const TrainingRow& row : training.rows) {
    nearest = std::min(nearest, mean_distance(row.above_exact));
  }
  const double rounding = mean_distance(training.control);
  const std::string name = title(study, training) + ": ";
  outcome.expect(rounding > 0.0, name + "a nudged exact training is another one");
  outcome.expect(rounding < 0.1 * nearest,
                 name +
                     "rounding alone brings trainings less than a tenth as far apart as the "
                     "nearest table, " +
                     number(rounding) + " against " + number(nearest));
}

int fidelity(const Arguments& arguments) {
  const std::vector<Plan> plans = make_plans(arguments.is_long);
  const std::vector<Study> studies = run_all(plans);
  Outcome outcome;
  for (const Study& study : studies) {
    for (const Training& training : study.trainings) {
      std::cout << markdown(training_sheet(study, training));
      check(study, training, outcome);
    }
    std::cout << markdown(stage_sheet(study));
    check(study, outcome);
  }
  if (!plans[0].recipes.empty()) std::cout << markdown(goal_sheet(studies));
  if (!arguments.folder.empty()) write_page(studies, plans, arguments.folder);
  return outcome.exit_code();
}

}  // namespace
}  // namespace fewbit::examples

int main(int count, char** values) {
  return fewbit::examples::run_example(count, values, fewbit::examples::fidelity);
}

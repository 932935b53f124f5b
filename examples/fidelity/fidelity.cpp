// How close training with few-bit derivatives stays to exact training: on an MLP (digits) and a
// small transformer (licences), GELU and SiLU, for every form, weight and bit width of the built-in
// tables. First the parameter gradients at several stages of an exact training, then trainings
// paired by seed. Short: the MLP's gradients at one stage.
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

std::vector<Plan> make_plans(bool is_long) {
  Plan mlp{.model = "mlp", .forms = kForms, .stages = {60}, .batches = 64, .seeds = {}};
  if (!is_long) return {mlp};
  mlp.stages = {30, 120, 480};
  mlp.batches = 128;
  mlp.seeds = {1, 2, 3, 4, 5};
  mlp.steps = 480;
  Plan transformer = mlp;
  transformer.model = "transformer";
  transformer.forms = {"intervals_uniform", "levels_uniform", "levels_normal", "smoothed_normal",
                       "unbiased_normal"};
  transformer.stages = {40, 400};
  transformer.batches = 64;
  transformer.most_trained_bits = 3;
  transformer.steps = 400;
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

Sheet training_sheet(const Study& study) {
  Sheet sheet{
      "Training: " + study.model + ", " + study.function + "; exact " + number(study.exact_loss, 5),
      {"table", "bits", "loss above exact", "standard error", "mean distance", "mean bias",
       "mean bias, Adam"},
      {}};
  const auto bias = over_stages(study, &Fidelity::bias);
  const auto adam = over_stages(study, &Fidelity::adam_bias);
  for (const TrainingRow& row : study.training) {
    const Key key{row.bits, row.form};
    sheet.rows.push_back({row.form, std::to_string(row.bits), number(mean(row.above_exact)),
                          number(standard_error(row.above_exact)),
                          number(mean_distance(row.above_exact)), number(bias.at(key)),
                          number(adam.at(key))});
  }
  return sheet;
}

Chart scatter(const Study& study) {
  Chart chart{study.model + ", " + study.function + ": gradient bias and distance from exact",
              "relative bias of the mean gradient",
              "mean |loss - exact loss|",
              {},
              true};
  const auto bias = over_stages(study, &Fidelity::bias);
  std::map<std::string, Line> lines;
  for (const TrainingRow& row : study.training) {
    Line& line = lines[row.form];
    line.name = row.form;
    line.joined = false;
    const double x = bias.at({row.bits, row.form}), y = mean_distance(row.above_exact);
    if (x > 0 && y > 0) line.points.emplace_back(x, y);
  }
  for (const auto& [form, line] : lines) chart.lines.push_back(line);
  return chart;
}

// The goal: one bit less than the paper's table, and no further from the exact run.
Sheet goal_sheet(const std::vector<Study>& studies) {
  Sheet sheet{"One bit less than the paper's table: mean distance of the loss from exact",
              {"model", "function", "table", "bits", "distance", "paper's, one bit more", "met"},
              {}};
  for (const Study& study : studies) {
    std::map<Key, double> distances;
    for (const TrainingRow& row : study.training) {
      distances[{row.bits, row.form}] = mean_distance(row.above_exact);
    }
    for (const int bits : {1, 2}) {
      const double paper = distances.at({bits + 1, "intervals_uniform"});
      for (const std::string& form : kForms) {
        if (!distances.contains({bits, form})) continue;
        const double ours = distances.at({bits, form});
        sheet.rows.push_back({study.model, study.function, form, std::to_string(bits), number(ours),
                              number(paper), ours <= paper ? "yes" : "no"});
      }
    }
  }
  return sheet;
}

std::string describe(const Plan& plan) {
  std::string text = plan.model + ": gradients of " + std::to_string(plan.batches) + " batches";
  if (plan.steps == 0) return text + ".";
  return text + "; trainings of " + std::to_string(plan.steps) + " steps of Adam, " +
         std::to_string(plan.seeds.size()) +
         " seeds, loss as mean of the last 100 steps, minus that of the exact run with the same "
         "first parameters and batches.";
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
  if (plans[0].steps > 0) page.add(goal_sheet(studies));
  for (const Study& study : studies) {
    if (!study.training.empty()) {
      page.add(scatter(study));
      page.add(training_sheet(study));
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

int fidelity(const Arguments& arguments) {
  const std::vector<Plan> plans = make_plans(arguments.is_long);
  const std::vector<Study> studies = run_all(plans);
  Outcome outcome;
  for (const Study& study : studies) {
    if (!study.training.empty()) std::cout << markdown(training_sheet(study));
    std::cout << markdown(stage_sheet(study));
    check(study, outcome);
  }
  if (plans[0].steps > 0) std::cout << markdown(goal_sheet(studies));
  if (!arguments.folder.empty()) write_page(studies, plans, arguments.folder);
  return outcome.exit_code();
}

}  // namespace
}  // namespace fewbit::examples

int main(int count, char** values) {
  return fewbit::examples::run_example(count, values, fewbit::examples::fidelity);
}

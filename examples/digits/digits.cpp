// An MLP and a small CNN with GELU on scikit-learn's digits: test accuracy and bytes kept for
// backward, exact and with 1 to 4 bits of every form. Long: five seeds; short: two and few forms.
#include <algorithm>
#include <iostream>

#include <ATen/ops/cross_entropy_loss.h>
#include <c10/core/GradMode.h>
#include <torch/utils.h>

#include "examples/support/data.hpp"
#include "examples/support/models.hpp"
#include "examples/support/page.hpp"
#include "examples/support/training.hpp"
#include "fewbit/saved_bytes.hpp"

namespace fewbit::examples {
namespace {

constexpr int64_t kBatch = 50;

struct Plan {
  std::vector<uint64_t> seeds;
  std::vector<Choice> choices;
  Recipe recipe;
};

Plan make_plan(bool is_long) {
  Plan plan;
  plan.choices.push_back(exact("gelu"));
  if (is_long) {
    plan.seeds = {1, 2, 3, 4, 5};
    const auto few =
        few_bit_choices("gelu", {"intervals_uniform", "levels_uniform", "levels_normal",
                                 "smoothed_normal", "unbiased_normal"});
    plan.choices.insert(plan.choices.end(), few.begin(), few.end());
    plan.recipe.steps = 1000;
  } else {
    plan.seeds = {1, 2};
    for (const int bits : {1, 3}) plan.choices.push_back(standard("gelu", bits));
    plan.recipe.steps = 400;
  }
  return plan;
}

// One form of one model, over the seeds.
struct Result {
  std::string model;
  Choice choice;
  std::vector<double> accuracies;  // in percent
  int64_t kept = 0;                // bytes, for one training batch
  int64_t computed = 0;            // bytes below exact, by arithmetic
};

// The batch of a step: the same for every form.
Batch batch_of(const Digits& digits, uint64_t seed, int64_t step) {
  std::mt19937_64 random(seed * 1'000'003 + static_cast<uint64_t>(step));
  return draw_digits(digits, kBatch, random);
}

template <class Model>
double accuracy(Model& model, const Digits& digits, const Activate& activate) {
  const c10::NoGradGuard no_gradient;
  const at::Tensor guess = model->forward(digits.test_pictures, activate).argmax(1);
  return 100.0 * guess.eq(digits.test_digits).to(at::kDouble).mean().template item<double>();
}

template <class Model>
int64_t kept_bytes(Model& model, const Batch& batch, const Activate& activate) {
  SavedBytes meter;
  meter.set_apart({batch.inputs, batch.targets});
  at::Tensor loss;
  {
    const auto watch = meter.watch();
    loss = at::cross_entropy_loss(model->forward(batch.inputs, activate), batch.targets);
  }
  return meter.unique_bytes();
}

// Four bytes per element against codes, and one set of levels for all layers.
int64_t saved_by_arithmetic(const std::vector<int64_t>& elements, int bits) {
  if (bits == 0) return 0;
  int64_t saved = -(int64_t{sizeof(float)} << bits);
  for (const int64_t count : elements) saved += count * 4 - code_bytes(count, bits);
  return saved;
}

template <class Model>
std::vector<Result> study(const std::string& name, int64_t width, const Digits& digits,
                          const Plan& plan) {
  std::vector<Result> results;
  for (const Choice& choice : plan.choices) {
    Result result{name, choice, {}, 0, 0};
    for (const uint64_t seed : plan.seeds) {
      torch::manual_seed(seed);
      Model model(width);
      const BatchLoss loss = [&](int64_t step, const Activate& activate) {
        const Batch batch = batch_of(digits, seed, step);
        return at::cross_entropy_loss(model->forward(batch.inputs, activate), batch.targets);
      };
      train(model->parameters(), loss, choice.activate, plan.recipe);
      result.accuracies.push_back(accuracy(model, digits, choice.activate));
      result.kept = kept_bytes(model, batch_of(digits, seed, 0), choice.activate);
      result.computed = saved_by_arithmetic(model->activated(kBatch), choice.bits);
    }
    std::cerr << name << ", " << choice.label() << ": " << number(mean(result.accuracies), 5)
              << " %\n";
    results.push_back(result);
  }
  return results;
}

Sheet as_sheet(const std::string& title, const std::vector<Result>& results) {
  Sheet sheet{title,
              {"derivative", "bits", "test accuracy, %", "spread", "lowest", "bytes kept", "saved"},
              {}};
  for (const Result& result : results) {
    const auto lowest = std::min_element(result.accuracies.begin(), result.accuracies.end());
    sheet.rows.push_back({result.choice.form, std::to_string(result.choice.bits),
                          number(mean(result.accuracies), 4), number(deviation(result.accuracies)),
                          number(*lowest, 4), std::to_string(result.kept),
                          std::to_string(results[0].kept - result.kept)});
  }
  return sheet;
}

void check(const std::vector<Result>& results, Outcome& outcome) {
  const Result& exact = results[0];
  outcome.expect(mean(exact.accuracies) > 90.0, exact.model + ", exact: above 90 %");
  for (const Result& result : results) {
    if (result.choice.bits == 0) continue;
    const std::string name = result.model + ", " + result.choice.label() + ": ";
    outcome.expect(exact.kept - result.kept == result.computed,
                   name + "saves " + std::to_string(result.computed) + " bytes, as computed");
    if (result.choice.bits < 3) continue;
    outcome.expect(mean(result.accuracies) > mean(exact.accuracies) - 2.0,
                   name + "accuracy within 2 points of exact");
  }
}

int digits(const Arguments& arguments) {
  const Digits data = load_digits(FEWBIT_DIGITS_CSV);
  const Plan plan = make_plan(arguments.is_long);
  Page page("Digits: accuracy and bytes kept for backward");
  page.add("GELU, Adam at 0.001, " + std::to_string(plan.recipe.steps) + " steps of " +
           std::to_string(kBatch) + " pictures, " + std::to_string(plan.seeds.size()) +
           " seeds; a seed fixes first parameters and batches for every row. Spread: standard "
           "deviation over the seeds. Bytes: unique storages that autograd keeps of one training "
           "batch, parameters and the batch itself left out.");
  Outcome outcome;
  const auto show = [&](const std::string& title, const std::vector<Result>& results) {
    const Sheet sheet = as_sheet(title, results);
    std::cout << markdown(sheet);
    page.add(sheet);
    check(results, outcome);
  };
  show("MLP, 64-128-128-10", study<Mlp>("MLP", 128, data, plan));
  show("CNN, 8 and 16 channels", study<Cnn>("CNN", 8, data, plan));
  if (!arguments.folder.empty()) page.write(arguments.folder, "digits");
  return outcome.exit_code();
}

}  // namespace
}  // namespace fewbit::examples

int main(int count, char** values) {
  return fewbit::examples::run_example(count, values, fewbit::examples::digits);
}

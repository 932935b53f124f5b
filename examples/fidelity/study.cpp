#include "examples/fidelity/study.hpp"

#include <iostream>

#include "examples/support/page.hpp"

namespace fewbit::examples {

namespace {

constexpr size_t kTail = 100;
constexpr uint64_t kStageSeed = 1;

std::string title(const Study& study) {
  return study.model + " with " + study.function;
}

void measure_stages(const Plan& plan, Study& study) {
  Subject subject = make_subject(study.model, study.function, kStageSeed);
  const Choice reference_choice = exact(study.function);
  // From one stage to the next as one training; the optimizer starts anew.
  int64_t trained = 0;
  for (const int64_t stage : plan.stages) {
    Recipe recipe = subject.recipe;
    recipe.steps = stage - trained;
    const BatchLoss later = [&](int64_t step, const Activate& activate) {
      return subject.loss(trained + step, activate);
    };
    train(subject.parameters, later, reference_choice.activate, recipe);
    trained = stage;
    const Reference reference = measure_exact(subject, reference_choice.activate, plan.batches);
    for (const Choice& choice : few_bit_choices(study.function, plan.forms, 4, true)) {
      study.stages.push_back(
          {stage, choice.form, choice.bits, measure(subject, reference, choice.activate)});
    }
    std::cerr << title(study) << ": gradients after " + std::to_string(stage) + " steps\n";
  }
}

double final_loss(const Study& study, const Choice& choice, uint64_t seed, const Plan& plan) {
  const Subject subject = make_subject(study.model, study.function, seed);
  Recipe recipe = subject.recipe;
  recipe.steps = plan.steps;
  return tail_mean(train(subject.parameters, subject.loss, choice.activate, recipe), kTail);
}

void train_all(const Plan& plan, Study& study) {
  const std::vector<Choice> choices =
      few_bit_choices(study.function, plan.forms, plan.most_trained_bits, true);
  for (const Choice& choice : choices) study.training.push_back({choice.form, choice.bits, {}});
  std::vector<double> exact_losses;
  for (const uint64_t seed : plan.seeds) {
    exact_losses.push_back(final_loss(study, exact(study.function), seed, plan));
    for (size_t i = 0; i < choices.size(); ++i) {
      const double loss = final_loss(study, choices[i], seed, plan);
      study.training[i].above_exact.push_back(loss - exact_losses.back());
    }
    std::cerr << title(study) + ": trained with seed " + std::to_string(seed) + "\n";
  }
  study.exact_loss = mean(exact_losses);
}

}  // namespace

Study run_study(const std::string& function, const Plan& plan) {
  Study study{plan.model, function, {}, 0.0, {}};
  measure_stages(plan, study);
  if (plan.steps > 0) train_all(plan, study);
  return study;
}

}  // namespace fewbit::examples

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

double final_loss(const Subject& subject, const Choice& choice, const Recipe& recipe) {
  return tail_mean(train(subject.parameters, subject.loss, choice.activate, recipe), kTail);
}

Training train_all(const Study& study, const Plan& plan, const Recipe& recipe) {
  const std::vector<Choice> choices = few_bit_choices(study.function, plan.forms, 4, true);
  Training training{recipe, 0.0, {}, {}};
  for (const Choice& choice : choices) training.rows.push_back({choice.form, choice.bits, {}});
  const Choice exactly = exact(study.function);
  std::vector<double> exact_losses;
  for (const uint64_t seed : plan.seeds) {
    const auto fresh = [&] { return make_subject(study.model, study.function, seed); };
    const double exact_loss = final_loss(fresh(), exactly, recipe);
    exact_losses.push_back(exact_loss);
    for (uint64_t i = 0; i < kControls; ++i) {
      const Subject nudged = fresh();
      nudge(nudged.parameters, i);
      training.control.push_back(final_loss(nudged, exactly, recipe) - exact_loss);
    }
    for (size_t i = 0; i < choices.size(); ++i) {
      const double loss = final_loss(fresh(), choices[i], recipe);
      training.rows[i].above_exact.push_back(loss - exact_loss);
    }
    std::cerr << title(study) + ": trained by " + recipe.optimizer + " with seed " +
                     std::to_string(seed) + "\n";
  }
  training.exact_loss = mean(exact_losses);
  return training;
}

}  // namespace

Study run_study(const std::string& function, const Plan& plan) {
  Study study{plan.model, function, {}, {}};
  measure_stages(plan, study);
  for (const Recipe& recipe : plan.recipes) {
    study.trainings.push_back(train_all(study, plan, recipe));
  }
  return study;
}

}  // namespace fewbit::examples

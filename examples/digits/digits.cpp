// An MLP and a small CNN with GELU on scikit-learn's digits: test accuracy and bytes kept for
// backward, exact, with 1 to 4 bits of every form, with tables fitted to each layer on the way, and
// with all that is kept coded, by the library's own codec and by ActNN's steps.
// Long: five seeds; short: two and few forms.
#include <algorithm>
#include <functional>
#include <iostream>
#include <optional>

#include <ATen/ops/cross_entropy_loss.h>
#include <c10/core/GradMode.h>
#include <torch/utils.h>

#include "examples/support/data.hpp"
#include "examples/support/models.hpp"
#include "examples/support/page.hpp"
#include "examples/support/training.hpp"
#include "fewbit/compressor.hpp"
#include "fewbit/saved_bytes.hpp"

namespace fewbit::examples {
namespace {

constexpr int64_t kBatch = 50;

// How derivatives are kept, and everything else where that is coded.
struct Form {
  Choice choice;
  std::optional<CompressorOptions> all = std::nullopt;

  bool is_exact() const { return choice.bits == 0 && !all; }
  std::string name() const {
    if (!all) return choice.form;
    return all->scheme == Scheme::rotated ? "all, rotated" : "all, group";
  }
  std::string bits() const { return all ? number(all->bits) : std::to_string(choice.bits); }
  std::string label() const { return all ? name() + ", " + bits() + " bits" : choice.label(); }
};

struct Plan {
  std::vector<uint64_t> seeds;
  std::vector<Form> forms;
  Recipe recipe;
};

Plan make_plan(bool is_long) {
  Plan plan;
  std::vector<Choice> choices{exact("gelu")};
  std::vector<double> averages{2.0};
  if (is_long) {
    plan.seeds = {1, 2, 3, 4, 5};
    const auto few =
        few_bit_choices("gelu", {"intervals_uniform", "levels_uniform", "levels_normal",
                                 "smoothed_normal", "unbiased_normal"});
    choices.insert(choices.end(), few.begin(), few.end());
    for (int bits = 1; bits <= 4; ++bits) choices.push_back(calibrated("gelu", bits));
    averages = {1.0, 1.5, 2.0, 3.0, 4.0};
    plan.recipe.steps = 1000;
  } else {
    plan.seeds = {1, 2};
    for (const int bits : {1, 3}) choices.push_back(standard("gelu", bits));
    choices.push_back(calibrated("gelu", 2));
    plan.recipe.steps = 400;
  }
  for (const Choice& choice : choices) plan.forms.push_back({choice});
  for (const Scheme scheme : {Scheme::rotated, Scheme::group}) {
    for (const double bits : averages) {
      plan.forms.push_back({exact("gelu"), CompressorOptions{.bits = bits, .scheme = scheme}});
    }
  }
  return plan;
}

// One form of one model, over the seeds.
struct Result {
  std::string model;
  Form form;
  std::vector<double> accuracies;     // in percent
  int64_t kept = 0;                   // bytes, for one training batch
  int64_t computed = 0;               // bytes below exact, by arithmetic
  std::vector<Calibrator::Fit> fits;  // of all seeds
};

// The batch of a step: the same for every form.
Batch batch_of(const Digits& digits, uint64_t seed, int64_t step) {
  std::mt19937_64 random(seed * 1'000'003 + static_cast<uint64_t>(step));
  return draw_digits(digits, kBatch, random);
}

template <class Model>
double accuracy(Model& model, const Digits& digits, const Activate& activate) {
  const c10::NoGradGuard no_gradient;
  return percent_right(model->forward(digits.test_pictures, activate), digits.test_digits);
}

int64_t kept_bytes(const Batch& batch, const std::function<at::Tensor()>& forward) {
  SavedBytes meter;
  meter.set_apart({batch.inputs, batch.targets});
  at::Tensor loss;
  {
    const auto watch = meter.watch();
    loss = forward();
  }
  return meter.unique_bytes();
}

// Four bytes per element against its code.
int64_t saved_by_arithmetic(const std::vector<int64_t>& elements, const Choice& choice) {
  if (choice.bits == 0) return 0;
  int64_t saved = 0;
  for (const int64_t count : elements) saved += count * 4 - code_bytes(count, choice.bits);
  return saved;
}

// A training of one form from one seed.
template <class Model>
void add_run(Result& result, Model model, const Digits& digits, uint64_t seed,
             const Recipe& recipe) {
  const Choice& choice = result.form.choice;
  const auto loss_of = [&](const Batch& batch) {
    return at::cross_entropy_loss(model->forward(batch.inputs, choice.activate), batch.targets);
  };
  BatchLoss loss = [&](int64_t step, const Activate&) {
    return loss_of(batch_of(digits, seed, step));
  };
  Calibration calibration(choice.bits);
  if (choice.is_calibrated) loss = calibration.around(loss);
  std::optional<Compressor> compressor;
  if (result.form.all) {
    compressor.emplace(*result.form.all);
    loss = [&compressor, inner = loss](int64_t step, const Activate& activate) {
      const CompressionScope scope(*compressor);
      return inner(step, activate);
    };
  }
  train(model->parameters(), loss, choice.activate, recipe);
  result.accuracies.push_back(accuracy(model, digits, choice.activate));

  const Batch batch = batch_of(digits, seed, 0);
  const auto scope = choice.is_calibrated ? calibration.scope(recipe.steps) : nullptr;
  std::optional<CompressionScope> coded;
  if (compressor) coded.emplace(*compressor);
  result.kept = kept_bytes(batch, [&] { return loss_of(batch); });
  result.computed = saved_by_arithmetic(model->activated(kBatch), choice);
  result.fits.insert(result.fits.end(), calibration.fits().begin(), calibration.fits().end());
}

template <class Model>
std::vector<Result> study(const std::string& name, int64_t width, const Digits& digits,
                          const Plan& plan) {
  std::vector<Result> results;
  for (const Form& form : plan.forms) {
    Result result{name, form, {}, 0, 0, {}};
    for (const uint64_t seed : plan.seeds) {
      torch::manual_seed(seed);
      add_run(result, Model(width), digits, seed, plan.recipe);
    }
    std::cerr << name << ", " << form.label() << ": " << number(mean(result.accuracies), 5)
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
    sheet.rows.push_back({result.form.name(), result.form.bits(),
                          number(mean(result.accuracies), 4), number(deviation(result.accuracies)),
                          number(*lowest, 4), std::to_string(result.kept),
                          std::to_string(results[0].kept - result.kept)});
  }
  return sheet;
}

// What the default tables and those fitted to the layers make of the inputs that were watched.
Sheet fits_sheet(const std::string& title, const std::vector<Result>& results) {
  Sheet sheet{title + ": fitted tables, first seed",
              {"bits", "site", "mean", "spread", "error before", "error after", "bias before",
               "bias after"},
              {}};
  for (const Result& result : results) {
    const size_t sites = result.fits.size() / result.accuracies.size();
    for (size_t i = 0; i < sites; ++i) {
      const Calibrator::Fit& fit = result.fits[i];
      sheet.rows.push_back({std::to_string(fit.bits), fit.site, number(fit.mean),
                            number(fit.spread), number(fit.error_before), number(fit.error_after),
                            number(fit.bias_before), number(fit.bias_after)});
    }
  }
  return sheet;
}

void check_fits(const Result& result, const std::string& name, Outcome& outcome) {
  if (!result.form.choice.is_calibrated) return;
  outcome.expect(result.fits.size() == 2 * result.accuracies.size(), name + "both sites fitted");
  const bool lower = std::ranges::all_of(
      result.fits, [](const Calibrator::Fit& fit) { return fit.bias_after < fit.bias_before; });
  outcome.expect(lower, name + "every fit lowers the smoothed bias of its site");
}

void check(const std::vector<Result>& results, Outcome& outcome) {
  const Result& exact = results[0];
  outcome.expect(mean(exact.accuracies) > 90.0, exact.model + ", exact: above 90 %");
  for (const Result& result : results) {
    if (result.form.is_exact()) continue;
    const std::string name = result.model + ", " + result.form.label() + ": ";
    if (result.form.all) {
      if (result.form.all->bits < 2.0) continue;
      outcome.expect(mean(result.accuracies) > mean(exact.accuracies) - 2.0,
                     name + "accuracy within 2 points of exact");
      continue;
    }
    outcome.expect(exact.kept - result.kept == result.computed,
                   name + "saves " + std::to_string(result.computed) + " bytes, as computed");
    check_fits(result, name, outcome);
    if (result.form.choice.bits < (result.form.choice.is_calibrated ? 2 : 3)) continue;
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
           "batch, parameters and the batch itself left out. Calibrated: the default table of so "
           "many bits up to step " +
           std::to_string(Calibration::kFitAt) + ", from then on one table for each layer, " +
           "fitted to its inputs since step " + std::to_string(Calibration::kWatchFrom) +
           "; error: expected squared error of the derivative at these inputs, bias: rms of the "
           "smoothed one, which the fit is for. All: everything that the model keeps, coded in so "
           "many bits on average, the activations in 3.");
  Outcome outcome;
  const auto show = [&](const std::string& title, const std::vector<Result>& results) {
    for (const Sheet& sheet : {as_sheet(title, results), fits_sheet(title, results)}) {
      std::cout << markdown(sheet);
      page.add(sheet);
    }
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

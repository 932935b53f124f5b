#pragma once

#include <string>
#include <vector>

#include "examples/fidelity/measure.hpp"

namespace fewbit::examples {

struct Plan {
  std::string model;               ///< as make_subject takes it
  std::vector<std::string> forms;  ///< form and weight of the tables; bits 1 to 4 of each
  std::vector<int64_t> stages;     ///< steps of exact training before each measurement
  int64_t batches = 0;             ///< of a measurement
  std::vector<uint64_t> seeds;
  std::vector<Recipe> recipes;  ///< of the trainings, a table each
};

/// One form at one stage.
struct StageRow {
  int64_t stage;
  std::string form;
  int bits;
  Fidelity fidelity;
};

/// One form, trained: loss (mean of the last 100 steps) above that of the exact run with the same
/// seed.
struct TrainingRow {
  std::string form;
  int bits;
  std::vector<double> above_exact;  ///< by seed
};

/// All forms trained by one recipe.
struct Training {
  Recipe recipe;
  double exact_loss;  ///< mean over the seeds
  /// Of exact runs from nudged first parameters, kControls for each seed: what rounding alone does.
  std::vector<double> control;
  std::vector<TrainingRow> rows;
};

constexpr uint64_t kControls = 3;

/// All of one model with one function.
struct Study {
  std::string model;
  std::string function;
  std::vector<StageRow> stages;
  std::vector<Training> trainings;
};

/// Runs in the calling thread; reports progress on stderr.
Study run_study(const std::string& function, const Plan& plan);

}  // namespace fewbit::examples

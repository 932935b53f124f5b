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
  int most_trained_bits = 4;
  std::vector<uint64_t> seeds;
  int64_t steps = 0;  ///< of each training; 0: no training table
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

/// All of one model with one function.
struct Study {
  std::string model;
  std::string function;
  std::vector<StageRow> stages;
  double exact_loss = 0;  ///< mean over the seeds
  std::vector<TrainingRow> training;
};

/// Runs in the calling thread; reports progress on stderr.
Study run_study(const std::string& function, const Plan& plan);

}  // namespace fewbit::examples

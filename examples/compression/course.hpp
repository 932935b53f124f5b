#pragma once

#include <optional>
#include <string>
#include <vector>

#include "examples/support/subject.hpp"
#include "fewbit/compressor.hpp"

/// Trainings with few bits of what a model keeps, and how far they end from exact ones.
namespace fewbit::examples {

struct Coding {
  std::string name;
  CompressorOptions options;  ///< without bits
  std::vector<double> bits;
  bool runs_layers_again = false;
  std::string alone = {};  ///< the one operation that is coded; empty: all are

  bool is_ours() const { return options.scheme == Scheme::rotated; }
};

struct Variant {
  std::optional<Coding> coding = {};  ///< none: exact
  double bits = 0.0;
  bool is_nudged = false;

  std::string name() const;
};

struct Run {
  double loss;      ///< mean of the last steps, nats
  double accuracy;  ///< in per cent
  int64_t bytes;    ///< kept after a forward
  std::vector<Compressor::Site> sites;
};

struct Result {
  Variant variant;
  std::vector<Run> runs;  ///< by seed
};

/// What is trained, and how.
struct Course {
  std::string model;
  std::string function;
  Recipe recipe;

  std::string name() const { return model + ", " + recipe.optimizer; }
};

/// Trains with seeds 1 to `seeds`; progress goes to stderr.
Result run(const Course& course, const Variant& variant, uint64_t seeds);

/// Losses of the runs of a variant, minus the exact ones of the same seeds.
std::vector<double> above(const Result& result, const Result& exact_runs);

}  // namespace fewbit::examples

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proven/on_samples.hpp"
#include "table/table.hpp"

namespace fewbit::solver {

struct Solved {
  Table table;
  std::optional<SampleError> samples;  ///< where it was fitted to some
};

/// Where the tables of one call go. A path may hold {bits} and {levels}: what was asked for, bits
/// of a code and number of levels.
struct SolveOutput {
  std::string table;                ///< -o
  std::string picture;              ///< --svg
  std::vector<std::string> inputs;  ///< files that are read: none of them is written to
  bool json = false;
  bool list = false;  ///< a list of sizes was asked for: JSON on standard output is an array
};

/// For use before solving: throws UsageError where several outputs meet in one place or one would
/// replace an input, Error where a
/// file cannot be written.
void check_solve_output(const SolveOutput& output, const std::vector<int>& levels);

/// Writes the files; prints the JSON, the picture, or the tables as text with what was written.
void write_solved(const SolveOutput& output, const std::vector<Solved>& solved);

}  // namespace fewbit::solver

#pragma once

#include <vector>

#include "table/table.hpp"

namespace fewbit::test {

/// One number among samples: what f' is there, and how many samples it stands for.
struct Atom {
  double x;
  double value;
  double count;
};

/// The least mean squared error over `atoms` that a table of this form and size is found to have,
/// by nothing but sums over the atoms: the exact program over a few hundred of the places where a
/// segment may end, then every end moved to and fro for as long as that gains. `ends`: the least
/// and the greatest f', where the outermost levels of Form::unbiased are.
double best_on_samples(std::vector<Atom> atoms, solver::Form form, int levels,
                       const solver::Domain& ends);

}  // namespace fewbit::test

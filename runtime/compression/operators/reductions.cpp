// Sums over rows or few elements, and roots of such.
#include "compression/operators/operator.hpp"

namespace fewbit::session {

namespace {

const OperatorFamily kSums(alike({"sum", "mean", "nansum", "var"}, {.effect = Effect::reduces}));
const OperatorFamily kRoots(alike({"norm", "linalg_vector_norm", "linalg_norm", "frobenius_norm",
                                   "std"},
                                  {.effect = Effect::roots}));

}  // namespace

}  // namespace fewbit::session

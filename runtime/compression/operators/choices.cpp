// What a program decides by: results that are no longer numbers with an error.
#include "compression/operators/operator.hpp"

namespace fewbit::session {

namespace {

// The least of many, too.
const OperatorFamily kSorted(alike({"topk", "sort", "median", "kthvalue"},
                                   {.effect = Effect::steepens, .is_choice = true}));
const OperatorFamily kPlaces(alike({"argsort", "argmax", "argmin", "nanmedian", "mode", "nonzero",
                                    "nonzero_numpy", "bucketize", "searchsorted",
                                    "unique_consecutive", "_unique2"},
                                   {.is_choice = true}));
const OperatorFamily kSteps(alike({"floor", "ceil", "round", "trunc", "frac", "sign", "sgn",
                                   "heaviside", "copysign"},
                                  {.is_choice = true}));
const OperatorFamily kComparisons(alike({"gt", "ge", "lt", "le", "eq", "ne", "greater", "less",
                                         "greater_equal", "less_equal"},
                                        {.is_choice = true}));
const OperatorFamily kDraws(alike({"multinomial", "poisson", "binomial", "_standard_gamma",
                                   "_sample_dirichlet"},
                                  {.is_choice = true}));
const OperatorFamily kSamplers(alike({"grid_sampler", "grid_sampler_2d", "grid_sampler_3d"},
                                     {.is_choice = true}));
const OperatorFamily kNumbers(alike({"item", "_local_scalar_dense"}, {.is_choice = true}));

}  // namespace

}  // namespace fewbit::session

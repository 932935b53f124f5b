// Functions of one element each, and of matrices, by what they do to errors.
#include "compression/operators/operator.hpp"

namespace fewbit::session {

namespace {

const OperatorFamily kDivide(
    alike({"log",     "log2",       "log10",         "log1p",         "sqrt",    "rsqrt",
           "acos",    "asin",       "acosh",         "atanh",         "logit",   "erfinv",
           "digamma", "lgamma",     "polygamma",     "prod",          "cumprod", "atan2",
           "hypot",   "reciprocal", "special_logit", "special_erfinv"},
          {.effect = Effect::divides}));
const OperatorFamily kMatrices(alike({"_linalg_slogdet", "linalg_slogdet", "linalg_inv_ex",
                                      "linalg_inv", "_linalg_solve_ex", "linalg_solve",
                                      "linalg_cholesky_ex", "linalg_cholesky"},
                                     {.effect = Effect::divides}));

// A square that counts for nothing where these are flat has as large an error as one that counts.
const OperatorFamily kCurves(alike({"sigmoid", "tanh", "atan", "asinh", "sinc", "erf", "erfc",
                                    "softplus", "log_sigmoid", "clamp", "clamp_min", "clamp_max"},
                                   {.effect = Effect::curves}));
const OperatorFamily kWaves(alike({"sin", "cos"}, {.effect = Effect::curves, .turns_often = true}));

const OperatorFamily kSteepen(alike({"exp", "exp2", "expm1", "tan", "sinh", "cosh", "logaddexp",
                                     "logaddexp2", "logcumsumexp", "min", "amin", "minimum"},
                                    {.effect = Effect::steepens}));

const OperatorFamily kMaxima(alike({"max", "amax", "maximum", "cummax", "cummin"},
                                   {.turns_often = true}));

}  // namespace

}  // namespace fewbit::session

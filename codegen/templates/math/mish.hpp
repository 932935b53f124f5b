// The gate of mish and its slopes.
#pragma once

#include "codegen/templates/math/exp.hpp"

namespace fewbit::generated::math {

//@ gate exp
/// tanh(log(1 + e^x)) as a quotient: with u = e^x, (u^2 + 2u) / (u^2 + 2u + 2), for positive x both
/// divided by u^2. The low parts are rounding errors.
struct Gate {
  float top;
  float top_low;
  float bottom;
  float bottom_low;
  float slope;  // the derivative is slope / bottom^2
};

FEWBIT_HD inline Gate gate(float x) {
  const float e = exp(-std::fabs(x));
  const float rise = 4.0f * fma(e, e, e);
  if (x < 0.0f) {
    const float sum = e + 2.0f;
    const float product = e * sum;
    const float low = fma(e, sum, -product) + e * (e - (sum - 2.0f));
    const float bottom = product + 2.0f;
    return {product, low, bottom, product - (bottom - 2.0f) + low, rise};
  }
  const float twice = 2.0f * e;
  const float top = 1.0f + twice;
  const float low = twice - (top - 1.0f);
  const float square = twice * e;
  const float bottom = top + square;
  const float bottom_low = square - (bottom - top) + fma(twice, e, -square) + low;
  return {top, low, bottom, bottom_low, rise * e};
}

//@ tanh_softplus gate
/// tanh(log(1 + e^x)), the gate of mish; within 1.5 ulp.
FEWBIT_HD inline float tanh_softplus(float x) {
  const Gate g = gate(x);
  const float r = 1.0f / g.bottom;
  const float q = g.top * r;
  return fma(fma(-g.bottom, q, g.top) + fma(-g.bottom_low, q, g.top_low), r, q);
}

//@ tanh_softplus_slope gate quotient
/// The slope of tanh(log(1 + e^x)); within 4 ulp.
FEWBIT_HD inline float tanh_softplus_slope(float x) {
  const Gate g = gate(x);
  const float r = quotient(1.0f, g.bottom, g.bottom_low);
  return g.slope * r * r;
}

//@ mish_slope gate
/// The slope of x tanh(log(1 + e^x)): top / bottom + x slope / bottom^2, both quotients corrected.
FEWBIT_HD inline float mish_slope(float x) {
  const Gate g = gate(x);
  const float r = 1.0f / g.bottom;
  const float q = g.top * r;
  const float q_rest = fma(-g.bottom, q, g.top) + fma(-g.bottom_low, q, g.top_low);
  const float square = g.bottom * g.bottom;
  const float square_low = fma(g.bottom, g.bottom, -square) + 2.0f * g.bottom * g.bottom_low;
  const float top = x * g.slope;
  const float p = top * r * r;
  const float p_rest = fma(-square_low, p, fma(-square, p, top));
  return q + (p + fma(p_rest, r * r, q_rest * r));
}

}  // namespace fewbit::generated::math

#pragma once

namespace fewbit::test {

/// F(x, parameters...), whose parameters the registry gives as doubles.
template <auto F, class... Parameter>
float at_float(float x, Parameter... parameters) {
  return F(x, static_cast<float>(parameters)...);
}

}  // namespace fewbit::test

#pragma once

namespace fewbit::solver {

/// A second-order Taylor coefficient triple: value, first and second derivative with respect to x.
template <class Scalar>
struct Jet {
  Scalar value;
  Scalar first;
  Scalar second;
};

}  // namespace fewbit::solver

#include "table/table.hpp"

#include <algorithm>
#include <cmath>

namespace fewbit::solver {

int Table::bits() const {
  int bits = 1;
  while ((size_t{1} << bits) < levels.size()) ++bits;
  return bits;
}

size_t Table::interval_of(double x) const {
  const double key = symmetry == Symmetry::even ? std::fabs(x) : x;
  // The first threshold that is not below the key; NaN is above none.
  const auto end = std::lower_bound(thresholds.begin(), thresholds.end(), key);
  return std::isnan(key) ? 0 : static_cast<size_t>(end - thresholds.begin());
}

const char* to_string(Form form) {
  switch (form) {
    case Form::intervals:
      return "intervals";
    case Form::levels:
      return "levels";
    case Form::unbiased:
      return "unbiased";
  }
  return "";
}

const char* to_string(Symmetry symmetry) {
  return symmetry == Symmetry::even ? "even" : "none";
}

const char* to_string(DataType dtype) {
  switch (dtype) {
    case DataType::exact:
      return "exact";
    case DataType::fp32:
      return "fp32";
    case DataType::bf16:
      return "bf16";
    case DataType::fp16:
      return "fp16";
  }
  return "";
}

}  // namespace fewbit::solver

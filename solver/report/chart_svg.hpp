#pragma once

#include <string>
#include <vector>

namespace fewbit::solver {

/// One line or group of dots; `style` chooses colour and marker (see kSeriesStyles, wrapping).
struct Series {
  std::string name;
  size_t style;
  std::vector<double> x;
  std::vector<double> y;
};

/// Positive values (log scale) against bits (360 x 230), for a page that carries svg_style. Values
/// that are zero have no place on a log scale and are left out.
std::string bits_chart(const std::string& label, const std::vector<Series>& series);

/// The log scale of dot charts: values below `floor`, zero included, are drawn at `floor`; `goal`
/// is a dashed line.
struct DotScale {
  double floor;
  double ceiling;
  double goal;
};

/// One row per name, which stands above its dots (360 wide). Series::x are the values, Series::y
/// the indices of their rows.
std::string dot_chart(const std::string& label, const std::vector<std::string>& rows,
                      const std::vector<Series>& series, const DotScale& scale);

}  // namespace fewbit::solver

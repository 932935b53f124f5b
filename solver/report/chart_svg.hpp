#pragma once

#include <string>
#include <vector>

namespace fewbit::solver {
inline namespace reporting {

/// One line or group of dots; `style` chooses colour and marker (see kSeriesStyles, wrapping).
struct Series {
  std::string name;
  size_t style;
  std::vector<double> x;
  std::vector<double> y;
};

/// Error (log scale) against bits (360 x 230), for a page that carries svg_style. Values that are
/// zero have no place on a log scale and are left out.
std::string error_chart(const std::string& label, const std::vector<Series>& series);

/// One row per name, x on a log scale, `goal` as a dashed line (0: none). Series::y holds row
/// indices. Values below `floor`, zero included, are drawn at `floor`.
std::string dot_chart(const std::string& label, const std::vector<std::string>& rows,
                      const std::vector<Series>& series, double floor, double goal);

}  // namespace reporting
}  // namespace fewbit::solver

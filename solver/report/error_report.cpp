#include "report/error_report.hpp"

#include "report/result_sections.hpp"

namespace fewbit::solver {

std::vector<Section> error_sections(const std::vector<Result>& results) {
  const Labels labels = labels_of(results);
  const ResultIndex index(results, labels);
  return {error_section(index), bias_section(index), gap_section(index),
          table_section(results, labels), function_section(results, labels)};
}

}  // namespace fewbit::solver

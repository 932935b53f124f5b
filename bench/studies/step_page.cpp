#include "bench/studies/step_page.hpp"

#include <algorithm>
#include <iostream>
#include <span>

#include "examples/support/page.hpp"

namespace fewbit::bench::steps_study {

namespace {

constexpr const char* kTimes = "Step times";
constexpr const char* kPlans = "Plans";

examples::Sheet time_sheet(const Rows& rows) {
  return {kTimes,
          {"network", "threads", "stored", "times less", "peak MiB", "ms", "of exact",
           "gradient error"},
          rows};
}

examples::Sheet plan_sheet(const Rows& rows) {
  return {kPlans,
          {"network", "budget, % of exact", "planned MiB", "kept MiB", "planned peak", "peak MiB",
           "exact", "coded", "recomputed", "offloaded", "planned ms more", "ms more", "exact ms",
           "planning s"},
          rows};
}

/// Time against peak, of the first row's network; of its rows those with the most threads, which
/// come last.
examples::Chart chart_of(std::span<const Rows::value_type> rows,
                         const std::function<std::string(const std::string&)>& group_of) {
  std::vector<examples::Line> groups;
  for (const auto& row : rows) {
    if (row[1] != rows.back()[1]) continue;
    const std::string name = group_of(row[2]);
    auto group = std::ranges::find(groups, name, &examples::Line::name);
    if (group == groups.end()) group = groups.insert(group, {name, {}, /*joined=*/false});
    group->points.emplace_back(std::stod(row[4]), std::stod(row[6]));
  }
  return {rows.front()[0], "peak of a step, MiB", "time of a step over exact", groups};
}

void add_charts(examples::Page& page, const StepPage& steps) {
  const std::span<const Rows::value_type> rows = steps.times;
  for (size_t first = 0, last = 0; first < rows.size(); first = last) {
    while (last < rows.size() && rows[last][0] == rows[first][0]) ++last;
    page.add(chart_of(rows.subspan(first, last - first), steps.group_of));
  }
}

}  // namespace

void StepPage::read(const std::string& folder) {
  times = kept_rows(folder + "/steps.md", conditions, kTimes);
  plans = kept_rows(folder + "/steps.md", conditions, kPlans);
}

void StepPage::write(const std::string& folder) const {
  examples::Page page("Step times of networks whose saved tensors are coded");
  page.add(conditions);
  add_charts(page, *this);
  page.add(time_sheet(times));
  page.add(
      "Of exact: the least time over the least of as many exact steps that take turns with these, "
      "1.5 seconds a round, so that what else the machine does counts as little as it may; ms: the "
      "least. With one thread processor time, with "
      "more the clock's. Bits alone: the scheme rotated; layers recomputed: outputs of linear "
      "layers and activations recomputed where that errs less; the others "
      "as in memory.md. Times less: fewer bytes saved. Peak: the most bytes of tensors at a time "
      "in any step, the first ones that measure errors among them, with gradients, without "
      "parameters. Gradient error: of all parameters, in one "
      "step without dropout, over the exact gradient.");
  page.add(plan_sheet(plans));
  page.add(
      "fewbit::plan_memory for so many bytes that are kept, activations' codes, the batch and all "
      "else among them, or for so high a peak; sites by how they are kept, and what a step that "
      "follows takes more than "
      "an exact one, as planned and as measured, as above, by the clock with the most threads.");
  page.write(folder, "steps");
}

void StepPage::print() const {
  std::cout << examples::markdown(time_sheet(times)) << examples::markdown(plan_sheet(plans));
}

}  // namespace fewbit::bench::steps_study

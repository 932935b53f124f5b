#include "ops/extremes.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include <ATen/ops/empty.h>

#include "ops/ranges.hpp"
#include "ops/tensor_arguments.hpp"

namespace fewbit::ops {

std::optional<Extremes> find_extremes(const at::Tensor& run) {
  const kernels::ElementType type = check_element_type("fewbit::find_extremes", run);
  const void* const x = run.const_data_ptr();
  std::vector<kernels::Extreme> all;
  std::mutex mutex;
  for_parts(kernels::neighbourhoods(run.numel()), kGrainElements / kNeighbours,
            [&](int64_t begin, int64_t end) {
              std::vector<kernels::Extreme> found;
              kernels::find_extremes(type, x, run.numel(), begin, end, found);
              if (found.empty()) return;
              const std::lock_guard lock(mutex);
              all.insert(all.end(), found.begin(), found.end());
            });
  if (all.empty()) return std::nullopt;
  std::ranges::sort(all, {}, &kernels::Extreme::place);
  const auto count = static_cast<int64_t>(all.size());
  Extremes extremes{at::empty({count}, at::kLong), at::empty({count}, at::kDouble)};
  auto* const places = extremes.places.mutable_data_ptr<int64_t>();
  auto* const instead = extremes.instead.mutable_data_ptr<double>();
  for (size_t i = 0; i < all.size(); ++i) {
    places[i] = all[i].place;
    instead[i] = all[i].instead;
  }
  return extremes;
}

std::optional<Fill> find_fill(const at::Tensor& run) {
  return kernels::find_fill(check_element_type("fewbit::find_fill", run), run.const_data_ptr(),
                            run.numel());
}

}  // namespace fewbit::ops

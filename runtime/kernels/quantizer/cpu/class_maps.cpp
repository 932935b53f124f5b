#include "kernels/quantizer/class_maps.hpp"

#include <algorithm>
#include <vector>

#include "kernels/quantizer/cpu/wide_element.hpp"
#include "kernels/stream/code_stream.hpp"

namespace fewbit::kernels {

namespace {

using LaneSums = std::vector<ClassSums>;  // [kSampleLanes]

ClassSums joined(LaneSums& lanes) {
  for (int distance = kSampleWarp / 2; distance > 0; distance /= 2) {
    for (int warp = 0; warp < kSampleLanes; warp += kSampleWarp) {
      for (int i = warp; i < warp + distance; ++i) {
        lanes[static_cast<size_t>(i)].join(lanes[static_cast<size_t>(i + distance)]);
      }
    }
  }
  ClassSums all = lanes[0];
  for (int warp = kSampleWarp; warp < kSampleLanes; warp += kSampleWarp) {
    all.join(lanes[static_cast<size_t>(warp)]);
  }
  return all;
}

}  // namespace

void class_maps(const ClassMapsFormat& format, const void* x, const uint8_t* codes, float* there,
                float* back) {
  const int64_t step = sample_step(format.count);
  const int64_t sampled = (format.count + step - 1) / step;
  const int64_t last = code_bytes(format.count, format.bits) - 1;
  double middle = 0.0;
  for (int64_t i = sampled - 1; i >= 0; --i) {
    const double value = wide_element(format.type, x, i * step);
    if (!std::isfinite(value)) continue;
    middle = value;
    break;
  }
  const auto classes = static_cast<size_t>(format.classes);
  LaneSums all(kSampleLanes);
  std::vector<LaneSums> of_class(kMostClasses);
  for (size_t c = 0; c < classes; ++c) of_class[c].resize(kSampleLanes);
  for (int64_t i = 0; i < sampled; ++i) {
    const double value = wide_element(format.type, x, i * step);
    if (!std::isfinite(value)) continue;
    const auto lane = static_cast<size_t>(i % kSampleLanes);
    all[lane].add(value - middle);
    LaneSums& own = of_class[static_cast<size_t>(class_at(codes, format.bits, last, i * step))];
    if (!own.empty()) own[lane].add(value - middle);
  }
  const ClassSums sums = joined(all);
  std::vector<ClassMoments> moments;
  double greatest = 0.0;
  for (size_t c = 0; c < classes; ++c) {
    moments.push_back(moments_of(joined(of_class[c]), sums, middle));
    greatest = std::max(greatest, moments.back().deviation);
  }
  for (size_t c = 0; c < classes; ++c) {
    const auto maps = map_pair(moments[c], greatest, static_cast<int>(c) == format.zero);
    there[c] = maps.scale_there;
    there[classes + c] = maps.shift_there;
    back[c] = maps.scale_back;
    back[classes + c] = maps.shift_back;
  }
}

}  // namespace fewbit::kernels

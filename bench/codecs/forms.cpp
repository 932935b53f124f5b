#include "bench/codecs/forms.hpp"

#include <cmath>

#include <ATen/ATen.h>

#include "ops/group.hpp"

namespace fewbit::bench {

Form rotated(int bits, int states, int64_t group) {
  const codecs::CodecPointer codec = codecs::rotated({bits, group, states});
  return {states == 0 ? "rotated" : "rotated, " + std::to_string(states) + " states", bits,
          [codec](const at::Tensor& run, const RandomStream& random) {
            return codec->encode(run, random)->decoded();
          }};
}

Form grouped(int bits, const std::string& rounding) {
  return {"group, " + rounding, bits, [=](const at::Tensor& run, const RandomStream& random) {
            const auto [codes, constants] =
                ops::group_encode(run, bits, kGroup, rounding, random.seed, random.offset);
            return ops::group_decode(codes, constants, run.numel(), bits, kGroup, rounding,
                                     run.scalar_type(), random.seed, random.offset);
          }};
}

RandomStream stream(int64_t seed, int64_t draw) {
  return {at::full({1}, seed, at::kLong), draw};
}

at::Tensor in_groups(const at::Tensor& run, int64_t group) {
  const int64_t missing = (group - run.numel() % group) % group;
  return at::constant_pad_nd(run.to(at::kDouble), {0, missing}).view({-1, group});
}

at::Tensor grouped_variance(const at::Tensor& run, int bits, const std::string& rounding) {
  const auto constants = std::get<1>(ops::group_encode(run, bits, kGroup, "nearest"));
  const at::Tensor kept = constants.to(at::kDouble);
  const at::Tensor minimum = kept.narrow(1, 0, 1), half = kept.narrow(1, 1, 1);
  const at::Tensor step = 2.0 * half / ((1 << bits) - 1);
  const at::Tensor x = in_groups(run);
  if (rounding != "stochastic") return (step.square() / 12.0).expand_as(x);
  const at::Tensor place = at::where(step > 0.0, (x - minimum) / step, 0.0);
  const at::Tensor part = place - place.floor();
  return part * (1.0 - part) * step.square();
}

at::Tensor rotated_variance(const at::Tensor& run, int bits, int states) {
  const at::Tensor x = in_groups(run);
  at::Tensor rest = x - x.mean(1, /*keepdim=*/true);
  const int64_t last = run.numel() % kGroup;
  if (last != 0) {  // filled up with its mean
    at::Tensor real = x[-1].narrow(0, 0, last);
    rest[-1].zero_().narrow(0, 0, last).copy_(real - real.mean());
  }
  const double error = ops::rotated_error({bits, kGroup, states});
  return rest.square().mean(1, /*keepdim=*/true).expand_as(x) * error;
}

}  // namespace fewbit::bench

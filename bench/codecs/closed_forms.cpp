#include <cmath>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include "bench/codecs/draws.hpp"
#include "bench/codecs/forms.hpp"
#include "bench/codecs/studies.hpp"

namespace fewbit::bench {

namespace {

using examples::number;

at::Tensor gaussian(int64_t count, uint64_t seed) {
  return at::randn({count}, at::detail::createCPUGenerator(seed));
}

struct Mean {
  double value;
  double deviation;  // of the mean

  std::string z(double expected) const { return number((value - expected) / deviation, 2); }
};

Mean mean_of(const at::Tensor& values) {
  const double n = static_cast<double>(values.numel());
  return {values.mean().item<double>(), values.std().item<double>() / std::sqrt(n)};
}

/// Of every group, over its energy without the mean.
Mean rotated_error_of(int bits, int states, int64_t group, int64_t groups) {
  const at::Tensor run = gaussian(group * groups, 1);
  const at::Tensor x = in_groups(run, group);
  const at::Tensor back =
      in_groups(rotated(bits, states, group).decoded(run, stream(2, bits)), group);
  const at::Tensor energy = (x - x.mean(1, true)).square().sum(1);
  return mean_of((back - x).square().sum(1) / energy);
}

// What Gaussian groups of 256 were expected to cost, where that was written down before.
double expected_stochastic(int bits) {
  constexpr double kErrors[] = {6.9, .60, .11, .024};
  return bits <= 4 ? kErrors[bits - 1] : NAN;
}

struct Slope {
  double value;
  double deviation;
};

/// The decoded elements' regression on the small ones of x; the one large element is the last.
Slope slope_of(const Form& form, const at::Tensor& x, int64_t draws) {
  const int64_t small = x.numel() - 1;
  const at::Tensor part = x.narrow(0, 0, small).to(at::kDouble);
  const at::Tensor centred = part - part.mean();
  const double energy = centred.dot(centred).item<double>();
  at::Tensor slopes = at::empty({draws}, at::kDouble);
  auto* slope = slopes.mutable_data_ptr<double>();
  for (int64_t draw = 0; draw < draws; ++draw) {
    const at::Tensor back = form.decoded(x, stream(3, draw)).narrow(0, 0, small);
    slope[draw] = centred.dot(back.to(at::kDouble)).item<double>() / energy;
  }
  const Mean mean = mean_of(slopes);
  return {mean.value, mean.deviation};
}

/// The part of the error that falls on the marked elements of groups, which have all the energy.
double share_of_error(const Form& form, const at::Tensor& marked, int64_t groups) {
  const at::Tensor run = (gaussian(kGroup * groups, 7).view({-1, kGroup}) * marked).view({-1});
  const at::Tensor error = in_groups(form.decoded(run, stream(8, 0)) - run).square();
  return ((error * marked).sum() / error.sum()).item<double>();
}

}  // namespace

examples::Sheet rotated_on_gaussians(int64_t groups) {
  examples::Sheet sheet{
      "Rotated codes of Gaussian runs",
      {"states", "bits", "closed form", "groups of 256", "off, %", "standard error", "z",
       "groups of 1024", "off, % (1024)", "standard error (1024)", "z (1024)"},
      {}};
  for (const int states : {0, 4, 8}) {
    for (int bits = 1; bits <= (states == 0 ? 8 : 4); ++bits) {
      const double expected = ops::rotated_error({bits, kGroup, states});
      std::vector<std::string> row{std::to_string(states), std::to_string(bits),
                                   number(expected, 4)};
      for (const int64_t group : {256, 1024}) {
        const Mean mean = rotated_error_of(bits, states, group, groups * 256 / group);
        row.insert(row.end(),
                   {number(mean.value, 4), number(100.0 * (mean.value / expected - 1), 2),
                    number(mean.deviation, 2), mean.z(expected)});
      }
      sheet.rows.push_back(row);
    }
  }
  return sheet;
}

examples::Sheet grouped_on_gaussians(int64_t groups) {
  examples::Sheet sheet{"Steps between least and greatest, Gaussian groups of 256",
                        {"rounding", "bits", "expected", "closed form for these groups", "measured",
                         "standard error", "z"},
                        {}};
  const at::Tensor run = gaussian(kGroup * groups, 4);
  const at::Tensor x = in_groups(run);
  for (const char* rounding : {"stochastic", "dithered", "nearest"}) {
    const bool is_stochastic = std::string_view(rounding) == "stochastic";
    for (int bits = 1; bits <= 8; ++bits) {
      const at::Tensor back = in_groups(grouped(bits, rounding).decoded(run, stream(5, bits)));
      const at::Tensor error = (back - x).square().mean(1);
      const at::Tensor theory = grouped_variance(run, bits, rounding).mean(1);
      const Mean difference = mean_of(error - theory);
      const double expected = is_stochastic ? expected_stochastic(bits) : NAN;
      sheet.rows.push_back(
          {rounding, std::to_string(bits), std::isnan(expected) ? "-" : number(expected),
           number(theory.mean().item<double>(), 4), number(error.mean().item<double>(), 4),
           number(difference.deviation, 2), difference.z(0.0)});
    }
  }
  return sheet;
}

examples::Sheet slopes_beside_an_outlier(int64_t draws) {
  examples::Sheet sheet{"One element of 30 deviations in a group of 256",
                        {"codec", "bits", "slope of the others", "standard error"},
                        {}};
  at::Tensor x = gaussian(kGroup, 6);
  x[-1] = 30.0;
  for (int bits = 1; bits <= 4; ++bits) {
    for (const Form& form :
         {rotated(bits, 0), rotated(bits, 4), rotated(bits, 8), grouped(bits, "stochastic")}) {
      const Slope slope = slope_of(form, x, draws);
      sheet.rows.push_back(
          {form.name, std::to_string(bits), number(slope.value), number(slope.deviation, 2)});
    }
  }
  return sheet;
}

examples::Sheet spread_of_errors(int64_t groups) {
  examples::Sheet sheet{
      "Where the errors of rotated codes are",
      {"codec", "bits", "elements with energy", "even", "one after another", "scattered"},
      {}};
  const at::Tensor order = at::randperm(kGroup, at::detail::createCPUGenerator(9));
  for (const int states : {0, 4}) {
    for (const int bits : {1, 2, 4}) {
      for (const int64_t count : {32, 64, 128}) {
        const Form form = rotated(bits, states);
        const at::Tensor together = (at::arange(kGroup) < count).to(at::kFloat);
        const at::Tensor scattered = together.index_select(0, order);
        sheet.rows.push_back({form.name, std::to_string(bits), std::to_string(count),
                              number(static_cast<double>(count) / kGroup),
                              number(share_of_error(form, together, groups)),
                              number(share_of_error(form, scattered, groups))});
      }
    }
  }
  return sheet;
}

}  // namespace fewbit::bench

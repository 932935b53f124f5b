#include "compression/allocation/error.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/div.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>

namespace fewbit::session {

namespace {

constexpr int64_t kGroup = 256;

/// visit(parts) for so many elements of all at a time.
template <class Visit>
void for_each_part(const std::vector<const ByParts*>& runs, const Visit& visit) {
  const int64_t few = runs[0]->device.is_cpu() ? 1 << 19 : 1 << 23, count = runs[0]->count;
  int64_t step = 1;
  for (const ByParts* run : runs) step = std::max(step, run->step);
  const int64_t at_once = std::max(few / step, int64_t{1}) * step;
  for (int64_t begin = 0; begin < count; begin += at_once) {
    std::vector<at::Tensor> parts;
    for (const ByParts* run : runs) {
      parts.push_back(run->part(begin, std::min(begin + at_once, count)));
    }
    visit(parts);
  }
}

/// Adds numbers up where they are: the host waits for a device once.
class Sum {
 public:
  void add(const at::Tensor& number) { sum_ = sum_.defined() ? sum_.add_(number) : number; }
  double value() const { return sum_.defined() ? sum_.item().toDouble() : 0.0; }

 private:
  at::Tensor sum_;
};

/// Doubles, one for each kGroup elements of a part, the last of which may be fewer.
struct Groups {
  at::Tensor rests;     ///< squared errors
  at::Tensor energies;  ///< squares of what is off the mean
};

template <class Type>
void compare(const at::Tensor& x, const at::Tensor& y, double mean, const Groups& groups) {
  const auto* const exact = x.const_data_ptr<Type>();
  const auto* const again = y.const_data_ptr<Type>();
  auto* const rests = groups.rests.mutable_data_ptr<double>();
  auto* const energies = groups.energies.mutable_data_ptr<double>();
  constexpr int64_t kGrain = 64;
  at::parallel_for(0, groups.rests.numel(), kGrain, [&](int64_t begin, int64_t end) {
    constexpr int kSums = 8;  // side by side
    for (int64_t group = begin; group < end; ++group) {
      double rest[kSums] = {}, energy[kSums] = {};
      const int64_t first = group * kGroup, count = std::min(kGroup, x.numel() - first);
      const auto add = [&](int64_t i, int sum) {
        const auto value = static_cast<double>(exact[first + i]);
        const double off = static_cast<double>(again[first + i]) - value;
        rest[sum] += off * off;
        energy[sum] += (value - mean) * (value - mean);
      };
      int64_t i = 0;
      for (; i + kSums <= count; i += kSums) {
        for (int sum = 0; sum < kSums; ++sum) add(i + sum, sum);
      }
      for (; i < count; ++i) add(i, 0);
      rests[group] = std::accumulate(rest, rest + kSums, 0.0);
      energies[group] = std::accumulate(energy, energy + kSums, 0.0);
    }
  });
}

at::Tensor energies_of_groups(const at::Tensor& doubles) {
  const int64_t missing = (kGroup - doubles.numel() % kGroup) % kGroup;
  const at::Tensor whole = missing == 0 ? doubles : at::constant_pad_nd(doubles, {0, missing});
  return at::sum(at::square(whole.view({-1, kGroup})), 1);
}

Groups groups_of(const at::Tensor& x, const at::Tensor& y, double mean) {
  if (!x.is_cpu()) {
    const at::Tensor doubles = x.to(at::kDouble);
    return {energies_of_groups(at::sub(y.to(at::kDouble), doubles)),
            energies_of_groups(at::sub(doubles, mean))};
  }
  const bool is_float = x.scalar_type() == at::kFloat && y.scalar_type() == at::kFloat;
  const auto type = is_float ? at::kFloat : at::kDouble;
  const auto groups = (x.numel() + kGroup - 1) / kGroup;
  const Groups result{at::empty({groups}, at::kDouble), at::empty({groups}, at::kDouble)};
  const at::Tensor exact = x.to(type).contiguous(), again = y.to(type).contiguous();
  (is_float ? compare<float> : compare<double>)(exact, again, mean, result);
  return result;
}

double mean_of(const ByParts& run) {
  Sum sum;
  for_each_part({&run}, [&](const auto& parts) { sum.add(at::sum(parts[0], at::kDouble)); });
  return sum.value() / static_cast<double>(run.count);
}

/// visit(groups) of part after part.
template <class Visit>
void for_each_groups(const ByParts& run, const ByParts& decoded, bool is_norm, const Visit& visit) {
  const double mean = is_norm ? mean_of(run) : 0.0;
  for_each_part({&run, &decoded},
                [&](const auto& parts) { visit(groups_of(parts[0], parts[1], mean)); });
}

}  // namespace

ByParts::ByParts(const at::Tensor& run)
    : device(run.device()),
      count(run.numel()),
      part([flat = run.as_strided({run.numel()}, {1})](int64_t begin, int64_t end) {
        return flat.slice(0, begin, end);
      }) {}

double error_of(const ByParts& run, const ByParts& decoded, bool is_norm) {
  Sum energies, rests;
  for_each_groups(run, decoded, is_norm, [&](const Groups& groups) {
    rests.add(at::sum(groups.rests));
    energies.add(at::sum(groups.energies));
  });
  const double energy = energies.value();
  return energy == 0.0 ? 0.0 : rests.value() / energy;
}

double median_error_of(const ByParts& run, const ByParts& decoded, bool is_norm) {
  std::vector<at::Tensor> of_parts;
  for_each_groups(run, decoded, is_norm, [&](const Groups& groups) {
    of_parts.push_back(at::div(groups.rests, groups.energies));
  });
  if (of_parts.empty()) return 0.0;
  const at::Tensor quotients = at::cat(of_parts).cpu();
  const double* const first = quotients.const_data_ptr<double>();
  std::vector<double> errors;
  // Of a group without energy there is no error.
  std::copy_if(first, first + quotients.numel(), std::back_inserter(errors),
               [](double error) { return std::isfinite(error); });
  if (errors.empty()) return 0.0;
  const auto middle = errors.begin() + static_cast<int64_t>(errors.size() / 2);
  std::ranges::nth_element(errors, middle);
  return *middle;
}

double energy_share_of(const ByParts& probabilities) {
  Sum sum, squares;
  for_each_part({&probabilities}, [&](const auto& parts) {
    const at::Tensor doubles = parts[0].to(at::kDouble);
    sum.add(at::sum(doubles));
    squares.add(at::dot(doubles, doubles));
  });
  const double energy = squares.value(), expected = sum.value() - energy;
  return expected > 0.0 ? energy / expected : 0.0;
}

std::vector<double> errors_by_bits(double measured, int bits,
                                   const std::function<double(int bits)>& expected) {
  std::vector<double> errors;
  for (int b = 1; b <= 8; ++b) errors.push_back(measured * expected(b) / expected(bits));
  return errors;
}

}  // namespace fewbit::session

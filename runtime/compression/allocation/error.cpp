#include "compression/allocation/error.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>

namespace fewbit::session {

namespace {

using Tensors = std::vector<at::Tensor>;

/// Of all alike, as doubles; on a CPU so many elements at a time that they stay in its cache.
template <class Visit>
void for_each_part(const std::vector<const ByParts*>& runs, const Visit& visit) {
  const bool is_on_cpu = runs[0]->device.is_cpu();
  const int64_t few = is_on_cpu ? 1 << 19 : 1 << 23, count = runs[0]->count;
  int64_t step = 1;
  for (const ByParts* run : runs) step = std::max(step, run->step);
  const int64_t at_once = std::max(few / step, int64_t{1}) * step;
  for (int64_t begin = 0; begin < count; begin += at_once) {
    Tensors parts;
    const int64_t end = std::min(begin + at_once, count);
    for (const ByParts* run : runs) parts.push_back(run->part(begin, end));
    constexpr int64_t kInCache = 1 << 14;
    const int64_t most = is_on_cpu ? kInCache : at_once;
    for (int64_t first = 0; first < parts[0].numel(); first += most) {
      Tensors doubles;
      for (const at::Tensor& part : parts) {
        doubles.push_back(
            part.narrow(0, first, std::min(most, part.numel() - first)).to(at::kDouble));
      }
      visit(doubles);
    }
  }
}

/// Adds numbers up where they are: the host waits for a device once.
class Sum {
 public:
  void add(const at::Tensor& number) { sum_ = sum_.defined() ? sum_.add_(number) : number; }
  void add_energy(const at::Tensor& doubles) { add(at::dot(doubles, doubles)); }
  double value() const { return sum_.defined() ? sum_.item().toDouble() : 0.0; }

 private:
  at::Tensor sum_;
};

/// Of every kGroup elements, the last of which may be fewer.
at::Tensor energies_of_groups(const at::Tensor& doubles) {
  constexpr int64_t kGroup = 256;
  const int64_t missing = (kGroup - doubles.numel() % kGroup) % kGroup;
  const at::Tensor whole = missing == 0 ? doubles : at::constant_pad_nd(doubles, {0, missing});
  return at::sum(at::square(whole.view({-1, kGroup})), 1);
}

double mean_of(const ByParts& run) {
  Sum sum;
  for_each_part({&run}, [&](const Tensors& part) { sum.add(at::sum(part[0])); });
  return sum.value() / static_cast<double>(run.count);
}

}  // namespace

ByParts::ByParts(const at::Tensor& run)
    : device(run.device()),
      count(run.numel()),
      part([flat = run.as_strided({run.numel()}, {1})](int64_t begin, int64_t end) {
        return flat.slice(0, begin, end);
      }) {}

double error_of(const ByParts& run, const ByParts& decoded, bool is_norm) {
  const double mean = is_norm ? mean_of(run) : 0.0;
  Sum energies, rests;
  for_each_part({&run, &decoded}, [&](const Tensors& part) {
    rests.add_energy(at::sub(part[1], part[0]));
    energies.add_energy(is_norm ? at::sub(part[0], mean) : part[0]);
  });
  const double energy = energies.value();
  return energy == 0.0 ? 0.0 : rests.value() / energy;
}

double median_error_of(const ByParts& run, const ByParts& decoded, bool is_norm) {
  const double mean = is_norm ? mean_of(run) : 0.0;
  Tensors of_parts;
  for_each_part({&run, &decoded}, [&](const Tensors& part) {
    const at::Tensor rests = energies_of_groups(at::sub(part[1], part[0]));
    of_parts.push_back(rests.div_(energies_of_groups(at::sub(part[0], mean))));
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

std::vector<double> errors_by_bits(double measured, int bits,
                                   const std::function<double(int bits)>& expected) {
  std::vector<double> errors;
  for (int b = 1; b <= 8; ++b) errors.push_back(measured * expected(b) / expected(bits));
  return errors;
}

}  // namespace fewbit::session

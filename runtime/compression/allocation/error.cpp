#include "compression/allocation/error.hpp"

#include <algorithm>

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>

namespace fewbit::session {

namespace {

/// As doubles, so many elements at a time that those of a CPU stay in its cache.
template <class Visit>
void for_each_part(const at::Tensor& run, const Visit& visit) {
  constexpr int64_t kInCache = 1 << 14;
  const int64_t most = run.is_cpu() ? kInCache : run.numel();
  for (int64_t begin = 0; begin < run.numel(); begin += most) {
    const int64_t count = std::min(most, run.numel() - begin);
    visit(begin, run.narrow(0, begin, count).to(at::kDouble));
  }
}

double energy_of(const at::Tensor& doubles) {
  return at::dot(doubles, doubles).item().toDouble();
}

/// Of every kGroup elements, the last of which may be fewer.
std::vector<double> energies_of_groups(const at::Tensor& doubles) {
  constexpr int64_t kGroup = 256;
  const int64_t missing = (kGroup - doubles.numel() % kGroup) % kGroup;
  const at::Tensor whole = missing == 0 ? doubles : at::constant_pad_nd(doubles, {0, missing});
  const at::Tensor sums = at::sum(at::square(whole.view({-1, kGroup})), 1).cpu();
  const double* first = sums.const_data_ptr<double>();
  return {first, first + sums.numel()};
}

double mean_of(const at::Tensor& run) {
  double sum = 0.0;
  for_each_part(run,
                [&](int64_t, const at::Tensor& part) { sum += at::sum(part).item().toDouble(); });
  return sum / static_cast<double>(run.numel());
}

}  // namespace

double error_of(const at::Tensor& run, const at::Tensor& decoded, bool is_norm) {
  const at::Tensor exact = run.as_strided({run.numel()}, {1});
  const double mean = is_norm ? mean_of(exact) : 0.0;
  double energy = 0.0;
  double rest = 0.0;
  for_each_part(exact, [&](int64_t begin, const at::Tensor& part) {
    rest += energy_of(at::sub(decoded.narrow(0, begin, part.numel()).to(at::kDouble), part));
    energy += energy_of(is_norm ? at::sub(part, mean) : part);
  });
  return energy == 0.0 ? 0.0 : rest / energy;
}

double median_error_of(const at::Tensor& run, const at::Tensor& decoded, bool is_norm) {
  const at::Tensor exact = run.as_strided({run.numel()}, {1});
  const double mean = is_norm ? mean_of(exact) : 0.0;
  std::vector<double> errors;
  for_each_part(exact, [&](int64_t begin, const at::Tensor& part) {
    const at::Tensor rest = at::sub(decoded.narrow(0, begin, part.numel()).to(at::kDouble), part);
    const std::vector<double> rests = energies_of_groups(rest);
    const std::vector<double> energies = energies_of_groups(at::sub(part, mean));
    for (size_t i = 0; i < rests.size(); ++i) {
      if (energies[i] > 0.0) errors.push_back(rests[i] / energies[i]);
    }
  });
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

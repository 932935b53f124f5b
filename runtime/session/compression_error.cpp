#include "session/compression_error.hpp"

#include <ATen/ops/dot.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/sub.h>

namespace fewbit::session {

namespace {

at::Tensor flat_doubles(const at::Tensor& run) {
  return run.as_strided({run.numel()}, {1}).to(at::kDouble);
}

}  // namespace

double error_of(const at::Tensor& run, const at::Tensor& decoded, bool is_norm) {
  const at::Tensor exact = flat_doubles(run);
  const at::Tensor rest = at::sub(decoded.to(at::kDouble), exact);
  const at::Tensor counted = is_norm ? at::sub(exact, at::mean(exact)) : exact;
  const double energy = at::dot(counted, counted).item().toDouble();
  return energy == 0.0 ? 0.0 : at::dot(rest, rest).item().toDouble() / energy;
}

std::vector<double> errors_by_bits(double measured, int bits,
                                   const std::function<double(int bits)>& expected) {
  std::vector<double> errors;
  for (int b = 1; b <= 8; ++b) errors.push_back(measured * expected(b) / expected(bits));
  return errors;
}

}  // namespace fewbit::session

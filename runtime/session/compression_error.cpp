#include "session/compression_error.hpp"

#include <cmath>

#include <ATen/ops/amax.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>

namespace fewbit::session {

namespace {

at::Tensor flat_doubles(const at::Tensor& run) {
  return run.as_strided({run.numel()}, {1}).to(at::kDouble);
}

}  // namespace

double share_of_greatest(const at::Tensor& run, int64_t group) {
  const int64_t groups = run.numel() / group;
  const at::Tensor squares =
      at::square(flat_doubles(run).narrow(0, 0, groups * group)).view({groups, group});
  const double energy = at::sum(squares).item().toDouble();
  return energy == 0.0 ? 0.0 : at::sum(at::amax(squares, 1)).item().toDouble() / energy;
}

double error_of(const at::Tensor& run, const codecs::Encoded& encoded, bool is_norm) {
  const at::Tensor exact = flat_doubles(run);
  const at::Tensor rest = at::sub(encoded.decoded().to(at::kDouble), exact);
  const at::Tensor counted = is_norm ? at::sub(exact, at::mean(exact)) : exact;
  const double energy = at::dot(counted, counted).item().toDouble();
  return energy == 0.0 ? 0.0 : at::dot(rest, rest).item().toDouble() / energy;
}

std::vector<double> errors_by_bits(double measured, int bits, bool is_grouped) {
  const auto shape = [is_grouped](int b) {
    return is_grouped ? std::pow((1 << b) - 1, -2.0) : codecs::rotated_error(b);
  };
  std::vector<double> errors;
  for (int b = 1; b <= 8; ++b) errors.push_back(measured * shape(b) / shape(bits));
  return errors;
}

}  // namespace fewbit::session

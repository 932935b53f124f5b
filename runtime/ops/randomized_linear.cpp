#include "ops/randomized_linear.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randint.h>
#include <torch/library.h>

#include "ops/autocast.hpp"
#include "ops/find.hpp"
#include "ops/projections.hpp"

TORCH_LIBRARY_FRAGMENT(fewbit, m) {
  m.def(
      "randomized_linear(Tensor x, Tensor weight, Tensor? bias, SymInt rows, str projection, "
      "Tensor seed) -> Tensor");
  m.def("project_rows(Tensor x, SymInt rows, str projection, Tensor seed) -> Tensor");
}

namespace fewbit::ops {

namespace {

constexpr const char* kName = "fewbit::randomized_linear";
constexpr const char* kProjectName = "fewbit::project_rows";

constexpr std::array kProjections = {
    std::pair{Projection::gaussian, "gaussian"}, std::pair{Projection::rademacher, "rademacher"},
    std::pair{Projection::dct, "dct"}, std::pair{Projection::rows, "rows"}};

Projection projection_of(c10::string_view name) {
  for (const auto& [projection, known] : kProjections) {
    if (name == known) return projection;
  }
  TORCH_CHECK(false, kProjectName, ": projection is ", name,
              ", accepted: gaussian, rademacher, dct, rows");
}

void check_project(const at::Tensor& x, const c10::SymInt& rows, const at::Tensor& seed) {
  TORCH_CHECK(x.dim() == 2 && x.is_floating_point(), kProjectName,
              ": x has to be a matrix of floating-point numbers, it is ", x.scalar_type(), " of ",
              x.dim(), " dimensions");
  TORCH_CHECK(rows >= 1, kProjectName, ": rows is ", rows, ", accepted: 1 or more");
  TORCH_CHECK(seed.scalar_type() == at::kLong && seed.dim() == 1 && seed.device() == x.device(),
              kProjectName, ": seed has to be one int64 on x's device");
}

at::Tensor project(const at::Tensor& x, int64_t rows, c10::string_view name,
                   const at::Tensor& seed) {
  check_project(x, rows, seed);
  const Projection projection = projection_of(name);
  const int64_t blocks = block_count(x.size(0), projection);
  TORCH_CHECK(seed.numel() == 1, kProjectName, ": seed has to be one int64");
  TORCH_CHECK(x.size(0) > 0, kProjectName, ": x has no rows");
  TORCH_CHECK(rows % blocks == 0, kProjectName, ": rows is ", rows, ", of ", x.size(0),
              " rows of x accepted: multiples of ", blocks);
  const bool is_double = x.scalar_type() == at::kDouble;
  return projected(x.to(is_double ? at::kDouble : at::kFloat), rows, projection, seed)
      .to(x.scalar_type());
}

at::Tensor project_meta(const at::Tensor& x, c10::SymInt rows, c10::string_view name,
                        const at::Tensor& seed) {
  check_project(x, rows, seed);
  projection_of(name);
  return x.new_empty_symint({std::move(rows), x.sym_size(1)});
}

at::Tensor value_only(const at::Tensor& x, const at::Tensor& weight,
                      const std::optional<at::Tensor>& bias, int64_t /*rows*/,
                      c10::string_view /*projection*/, const at::Tensor& /*seed*/) {
  return at::linear(x, weight, bias);
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CompositeExplicitAutograd, m) {
  m.impl("randomized_linear", value_only);
  m.impl("project_rows", project);
}

TORCH_LIBRARY_IMPL(fewbit, Meta, m) {
  m.impl("project_rows", project_meta);
}

at::Tensor as_matrix(const at::Tensor& x) {
  if (x.dim() == 2) return x;  // flatten would give it back, which nothing below autograd may do
  return x.dim() < 2 ? x.unsqueeze(0) : x.flatten(0, -2);
}

int64_t kept_rows(int64_t rows, const RandomizedLinearOptions& options) {
  const int64_t blocks = block_count(rows, options.projection);
  // 0.55 * 100 is above 55.
  constexpr double kRounding = 1.0 - 1e-12;
  const double kept = options.keep * kRounding * static_cast<double>(rows);
  const auto of_each = static_cast<int64_t>(std::ceil(kept / static_cast<double>(blocks)));
  return std::min(rows, of_each * blocks);
}

const char* name_of(Projection projection) {
  return kProjections[static_cast<size_t>(projection)].second;
}

at::Tensor project_rows(const at::Tensor& x, c10::SymInt rows, c10::string_view projection,
                        const at::Tensor& seed) {
  using Signature = at::Tensor(const at::Tensor&, c10::SymInt, c10::string_view, const at::Tensor&);
  static const auto operation = find<Signature>(kProjectName);
  return operation.call(x, std::move(rows), projection, seed);
}

void check_keep(const char* operation, double keep) {
  TORCH_CHECK(keep > 0.0 && keep <= 1.0, operation, ": keep is ", keep,
              ", accepted: above 0, at most 1");
}

}  // namespace fewbit::ops

namespace fewbit {

at::Tensor randomized_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                             const RandomizedLinearOptions& options) {
  using Signature =
      at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&,
                 c10::SymInt, c10::string_view, const at::Tensor&);
  static const auto operation = ops::find<Signature>(ops::kName);
  ops::check_keep(ops::kName, options.keep);
  const std::optional<at::Tensor> given = bias.defined() ? std::optional(bias) : std::nullopt;
  const int64_t rows = ops::as_matrix(x).size(0);
  const int64_t kept = ops::kept_rows(rows, options);
  if (kept >= rows || !at::GradMode::is_enabled() || !weight.requires_grad()) {
    return at::linear(x, weight, given);
  }
  const at::Tensor seed = at::randint(std::numeric_limits<int64_t>::max(), {1},
                                      x.options().dtype(at::kLong).requires_grad(false));
  return operation.call(ops::in_lower_precision(x), ops::in_lower_precision(weight),
                        given ? std::optional(ops::in_lower_precision(*given)) : std::nullopt, kept,
                        ops::name_of(options.projection), seed);
}

}  // namespace fewbit

#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>
#include <c10/core/SymInt.h>
#include <c10/util/string_view.h>

#include "fewbit/randomized_linear.hpp"

/// Operations of library `fewbit` behind fewbit/randomized_linear.hpp:
///
///   randomized_linear(Tensor x, Tensor weight, Tensor? bias, SymInt rows, str projection,
///                     Tensor seed) -> Tensor
///       torch's linear(x, weight, bias), with the weight's gradient out of `rows` rows.
///   project_rows(Tensor x, SymInt rows, str projection, Tensor seed) -> Tensor
///       S x of x [R, in], [rows, in] in x's type. Not differentiable.
///
/// projection: "gaussian", "rademacher", "dct", "rows". rows: 1 or more; of the first two a
/// multiple of the number of blocks, ceil(R / 512), as kept_rows gives it. seed: one int64 on x's
/// device. Throws c10::Error naming operation and argument for anything else.
namespace fewbit::ops {

/// Of x as a matrix: [..., in] as [R, in].
at::Tensor as_matrix(const at::Tensor& x);

/// How many of R rows are saved; R: all, exactly.
int64_t kept_rows(int64_t rows, const RandomizedLinearOptions& options);

const char* name_of(Projection projection);

at::Tensor project_rows(const at::Tensor& x, c10::SymInt rows, c10::string_view projection,
                        const at::Tensor& seed);

/// Throws c10::Error where it is not above 0 and at most 1.
void check_keep(const char* operation, double keep);

}  // namespace fewbit::ops

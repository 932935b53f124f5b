#pragma once

#include <optional>

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/string_view.h>

namespace fewbit::ops {

using Numbers = at::ArrayRef<double>;

/// A table among the arguments of an operation.
struct TableArguments {
  Numbers thresholds;
  at::IntArrayRef codes;  ///< one more than thresholds, or two with a NaN's; none if unbiased
  Numbers levels;
  bool even;

  bool is_unbiased() const { return thresholds.empty() && codes.empty(); }
};

/// How activation runs.
struct ActivationRun {
  bool in_place = false;     ///< its caller writes y over x
  bool codes_first = false;  ///< the codes are saved before y takes memory
};

/// What activation and activation_forward take in addition to x. Points at what the caller holds.
struct ActivationArguments {
  c10::string_view function;
  Numbers parameters;
  TableArguments table;
  std::optional<at::Tensor> seed;
  ActivationRun run = {};
};

/// The same as the dispatcher passes it.
template <class Result>
using ActivationSignature = Result(const at::Tensor& x, c10::string_view function,
                                   Numbers parameters, Numbers thresholds, at::IntArrayRef codes,
                                   Numbers levels, bool even, const std::optional<at::Tensor>& seed,
                                   bool in_place, bool codes_first);

/// Places in that list.
inline constexpr size_t kFunctionArgument = 1;
inline constexpr size_t kParametersArgument = 2;
inline constexpr size_t kLevelsArgument = 5;
inline constexpr size_t kInPlaceArgument = 8;

/// kFunction(x, arguments), as a kernel of that signature.
template <auto* kFunction>
auto unpacked(const at::Tensor& x, c10::string_view function, Numbers parameters,
              Numbers thresholds, at::IntArrayRef codes, Numbers levels, bool even,
              const std::optional<at::Tensor>& seed, bool in_place, bool codes_first) {
  return kFunction(
      x, {function, parameters, {thresholds, codes, levels, even}, seed, {in_place, codes_first}});
}

/// operation(x, arguments).
template <class Operation>
auto packed(const Operation& operation, const at::Tensor& x, const ActivationArguments& arguments) {
  const TableArguments& table = arguments.table;
  return operation.call(x, arguments.function, arguments.parameters, table.thresholds, table.codes,
                        table.levels, table.even, arguments.seed, arguments.run.in_place,
                        arguments.run.codes_first);
}

}  // namespace fewbit::ops

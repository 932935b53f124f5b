// Norms save their inputs; means and deviations stay exact.
#include <numeric>

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/rsqrt.h>

#include "compression/operators/operator.hpp"
#include "ops/channels.hpp"
#include "ops/layout.hpp"

namespace fewbit::session {

namespace {

using Sizes = std::vector<int64_t>;

constexpr SavePolicy kInput = {StorageKind::rotated, 1.0, true};

/// Undefined where the argument is none.
at::Tensor viewed(const at::Tensor& numbers, const Sizes& sizes) {
  return numbers.defined() ? numbers.detach().view(sizes) : at::Tensor();
}

/// The means and factors that a norm gives after its output. Nothing where it gives none.
struct Given {
  at::Tensor mean, factor;

  static std::optional<Given> of(const std::vector<at::Tensor>& results) {
    if (results.size() < 3 || !results[1].defined() || !results[2].defined()) return std::nullopt;
    if (results[2].numel() == 0) return std::nullopt;
    return Given{results[1], results[2]};
  }
};

/// Whether there are numbers for each index of dimension 0.
bool has_rows(const at::Tensor& numbers, const at::Tensor& x) {
  return numbers.dim() == x.dim() && x.dim() > 0 && numbers.size(0) == x.size(0);
}

/// Those of x, which is rows from `first` on.
at::Tensor rows_of(const at::Tensor& numbers, int64_t first, const at::Tensor& x) {
  return numbers.slice(0, first, first + x.size(0));
}

namespace layer {

std::optional<codecs::Norm> norm(const NamedArguments& arguments, int64_t dimensions) {
  const Sizes sizes = arguments["normalized_shape"].toIntVector();
  Sizes over(sizes.size());
  std::iota(over.begin(), over.end(), dimensions - static_cast<int64_t>(sizes.size()));
  return codecs::Norm{over, 0, arguments["eps"].toDouble(),
                      viewed(arguments.tensor("weight"), sizes),
                      viewed(arguments.tensor("bias"), sizes)};
}

std::optional<codecs::Statistics> statistics(const NamedArguments& /*arguments*/,
                                             const std::vector<at::Tensor>& results) {
  const auto given = Given::of(results);
  return given ? std::optional(codecs::statistics_of(given->mean, given->factor)) : std::nullopt;
}

std::optional<Recipe> recipe(const EndedCall& call) {
  const at::Tensor weight = call.arguments.tensor("weight"), bias = call.arguments.tensor("bias");
  const at::Tensor mean = call.result(1), deviation = call.result(2);
  const auto type = call.result(0).scalar_type();
  const auto normalise = [=](const at::Tensor& x, const at::Tensor& means,
                             const at::Tensor& deviations) {
    const int64_t rows = means.numel();
    const at::Tensor by_rows = x.to(means.scalar_type()).reshape({1, rows, -1});
    at::Tensor y = ops::by_channels(by_rows, means.reshape(rows), deviations.reshape(rows), {}, {})
                       .view(x.sizes());
    if (weight.defined() && bias.defined()) {
      at::addcmul_out(y, bias, y, weight);
    } else {
      if (weight.defined()) y.mul_(weight);
      if (bias.defined()) y.add_(bias);
    }
    return ops::in_type(y, type);
  };
  Recipe recipe{kNorm,
                call.arguments.tensor("input"),
                [=](const at::Tensor& x) { return normalise(x, mean, deviation); },
                {mean, deviation}};
  if (has_rows(mean, call.result(0))) {
    recipe.of_rows = [=](const at::Tensor& x, int64_t first) {
      return normalise(x, rows_of(mean, first, x), rows_of(deviation, first, x));
    };
  }
  return recipe;
}

}  // namespace layer

namespace rms {

std::optional<codecs::Statistics> statistics(const NamedArguments& /*arguments*/,
                                             const std::vector<at::Tensor>& results) {
  if (results.size() < 2 || !results[1].defined() || results[1].numel() == 0) return std::nullopt;
  return codecs::statistics_of({}, results[1]);
}

std::optional<Recipe> recipe(const EndedCall& call) {
  const at::Tensor weight = call.arguments.tensor("weight");
  const at::Tensor deviation = call.result(1);
  const auto type = call.result(0).scalar_type();
  const auto normalise = [=](const at::Tensor& x, const at::Tensor& deviations) {
    at::Tensor y = at::mul(x, deviations);
    if (weight.defined()) y.mul_(weight);
    return ops::in_type(y, type);
  };
  Recipe recipe{kNorm,
                call.arguments.tensor("input"),
                [=](const at::Tensor& x) { return normalise(x, deviation); },
                {deviation}};
  if (has_rows(deviation, call.result(0))) {
    recipe.of_rows = [=](const at::Tensor& x, int64_t first) {
      return normalise(x, rows_of(deviation, first, x));
    };
  }
  return recipe;
}

}  // namespace rms

namespace batch {

/// [C] to broadcast with [N, C, ...].
Sizes beside(int64_t dimensions) {
  Sizes sizes(static_cast<size_t>(dimensions), 1);
  sizes[1] = -1;
  return sizes;
}

codecs::Norm norm_with(const NamedArguments& arguments, int64_t dimensions, double eps) {
  Sizes over = {0};
  for (int64_t i = 2; i < dimensions; ++i) over.push_back(i);
  const Sizes sizes = beside(dimensions);
  return {over, 0, eps, viewed(arguments.tensor("weight"), sizes),
          viewed(arguments.tensor("bias"), sizes)};
}

template <const char* kEps>
std::optional<codecs::Norm> norm(const NamedArguments& arguments, int64_t dimensions) {
  if (!arguments["training"].toBool()) return std::nullopt;
  return norm_with(arguments, dimensions, arguments[kEps].toDouble());
}

/// Of one that takes running means and variances, as they are now.
std::optional<codecs::Statistics> running(const NamedArguments& arguments, double eps) {
  const at::Tensor means = arguments.tensor("running_mean"),
                   variances = arguments.tensor("running_var");
  if (!means.defined() || !variances.defined()) return std::nullopt;
  const Sizes sizes = beside(arguments.tensor("input").dim());
  const at::Tensor mean = means.detach().clone().view(sizes),
                   variance = variances.detach().view(sizes);
  auto statistics = codecs::statistics_of(mean, at::rsqrt(variance + eps));
  statistics.is_kept_anyway = false;
  return statistics;
}

template <const char* kEps>
std::optional<codecs::Statistics> statistics(const NamedArguments& arguments,
                                             const std::vector<at::Tensor>& results) {
  if (!arguments["training"].toBool()) {
    if (auto known = running(arguments, arguments[kEps].toDouble())) return known;
  }
  const auto given = Given::of(results);
  if (!given) return std::nullopt;
  const Sizes sizes = beside(arguments.tensor("input").dim());
  return codecs::statistics_of(given->mean.view(sizes), given->factor.view(sizes), 0);
}

/// In training: else it has running statistics, which may change until backward.
std::optional<Recipe> recipe(const EndedCall& call) {
  if (!call.arguments["training"].toBool()) return std::nullopt;
  const at::Tensor weight = call.arguments.tensor("weight"), bias = call.arguments.tensor("bias");
  const at::Tensor mean = call.result(1), deviation = call.result(2);
  const auto type = call.result(0).scalar_type();
  const auto again = [=](const at::Tensor& x) {
    return ops::in_type(ops::by_channels(x, mean, deviation, weight, bias), type);
  };
  Recipe recipe{kNorm, call.arguments.tensor("input"), again, {mean, deviation}};
  recipe.is_by_rows = true;
  return recipe;
}

constexpr char kEps[] = "eps", kEpsilon[] = "epsilon";

}  // namespace batch

namespace group {

std::optional<codecs::Norm> norm(const NamedArguments& arguments, int64_t dimensions) {
  const int64_t groups = arguments["group"].toInt();
  Sizes sizes(static_cast<size_t>(dimensions) + 1, 1), over;
  for (int64_t i = 2; i <= dimensions; ++i) over.push_back(i);
  sizes[1] = groups;
  sizes[2] = -1;
  return codecs::Norm{over, groups, arguments["eps"].toDouble(),
                      viewed(arguments.tensor("weight"), sizes),
                      viewed(arguments.tensor("bias"), sizes)};
}

/// [N, G] to broadcast with [N, G, C / G, ...].
std::optional<codecs::Statistics> statistics(const NamedArguments& arguments,
                                             const std::vector<at::Tensor>& results) {
  const auto given = Given::of(results);
  if (!given) return std::nullopt;
  Sizes sizes(static_cast<size_t>(arguments.tensor("input").dim()) + 1, 1);
  sizes[0] = given->factor.size(0);
  sizes[1] = given->factor.size(-1);
  return codecs::statistics_of(given->mean.view(sizes), given->factor.view(sizes),
                               given->factor.size(-1));
}

/// [C] or [N, C] to broadcast with x [N, C, ...].
at::Tensor by_channel(const at::Tensor& numbers, const at::Tensor& x) {
  Sizes sizes(static_cast<size_t>(x.dim()), 1);
  sizes[1] = numbers.size(-1);
  if (numbers.dim() == 2) sizes[0] = numbers.size(0);
  return numbers.view(sizes);
}

std::optional<Recipe> recipe(const EndedCall& call) {
  const at::Tensor weight = call.arguments.tensor("weight"), bias = call.arguments.tensor("bias");
  const at::Tensor mean = call.result(1), deviation = call.result(2);
  const int64_t channels = call.arguments["C"].toInt() / mean.size(1);  // of a group
  const auto type = call.result(0).scalar_type();
  // x * scale + shift for every channel, of the statistics' type.
  const auto again = [=](const at::Tensor& x) {
    at::Tensor scale = deviation.repeat_interleave(channels, 1);
    if (weight.defined()) scale = at::mul(scale, weight);
    at::Tensor shift = at::mul(mean.repeat_interleave(channels, 1), scale).neg_();
    if (bias.defined()) shift = shift.add(bias);
    return at::addcmul(by_channel(shift, x), x, by_channel(scale, x)).to(type);
  };
  return Recipe{kNorm, call.arguments.tensor("input"), again, {mean, deviation}};
}

}  // namespace group

const std::vector<SavedArgument> kSaves = {{"input", kInput}};

const OperatorFamily kNorms = {
    {.name = "native_layer_norm",
     .arguments = {"input", "normalized_shape", "weight", "bias", "eps"},
     .saves = kSaves,
     .reads_pieces = true,
     .norm = layer::norm,
     .statistics = layer::statistics,
     .recomputation = {layer::recipe, {"weight", "bias"}, {}, /*in_place_too=*/false, kNorm},
     .effect = Effect::sums,
     .sensitivity = Sensitivity::layer},
    {.name = "_fused_rms_norm",
     .arguments = {"input", "normalized_shape", "weight", "eps"},
     .saves = kSaves,
     .reads_pieces = true,
     .statistics = rms::statistics,
     .recomputation = {rms::recipe, {"weight"}, {}, /*in_place_too=*/false, kNorm},
     .effect = Effect::sums},
    {.name = "native_batch_norm",
     .arguments = {"input", "weight", "bias", "running_mean", "running_var", "training", "momentum",
                   "eps"},
     .saves = kSaves,
     .has_channels = true,
     .reads_pieces = true,
     .norm = batch::norm<batch::kEps>,
     .statistics = batch::statistics<batch::kEps>,
     .recomputation = {batch::recipe, {"weight", "bias"}, {}, /*in_place_too=*/false, kNorm},
     .effect = Effect::sums,
     .is_norm_of_channels = true,
     .sensitivity = Sensitivity::layer},
    {.name = "cudnn_batch_norm",
     .arguments = {"input", "weight", "bias", "running_mean", "running_var", "training",
                   "exponential_average_factor", "epsilon"},
     .saves = kSaves,
     .has_channels = true,
     .reads_pieces = true,
     .norm = batch::norm<batch::kEpsilon>,
     .statistics = batch::statistics<batch::kEpsilon>,
     .recomputation = {batch::recipe, {"weight", "bias"}, {}, /*in_place_too=*/false, kNorm},
     .effect = Effect::sums,
     .is_norm_of_channels = true},
    {.name = "native_group_norm",
     .arguments = {"input", "weight", "bias", "N", "C", "HxW", "group", "eps"},
     .saves = kSaves,
     .has_channels = true,
     .reads_pieces = true,
     .norm = group::norm,
     .statistics = group::statistics,
     .recomputation = {group::recipe, {"weight", "bias"}, {}, /*in_place_too=*/false, kNorm},
     .effect = Effect::sums},
};

const OperatorFamily kOtherBatchNorms(alike({"_batch_norm_impl_index", "miopen_batch_norm"},
                                            {.arguments = {"input"},
                                             .saves = kSaves,
                                             .has_channels = true,
                                             .effect = Effect::sums,
                                             .is_norm_of_channels = true}));

// What these are called by the user, around the above.
const OperatorFamily kOuterChannels(alike({"batch_norm", "instance_norm"},
                                          {.effect = Effect::sums, .is_norm_of_channels = true}));
const OperatorFamily kOuterNorms(alike({"layer_norm", "group_norm", "rms_norm"},
                                       {.effect = Effect::sums}));

}  // namespace

}  // namespace fewbit::session

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torch/arg.h>

#include "fewbit/table.hpp"

namespace fewbit::nn {

/// A function's parameters by torch's names, in the order the table declares them.
using NamedParameters = std::vector<std::pair<std::string, double>>;

/// What all few-bit modules take beside torch::nn's own options.
template <class Derived>
class ActivationOptions {
 public:
  /// Of each stored code, 1 to 8; functions with a step function for a derivative take one whatever
  /// is asked for. Default: 3.
  Derived& bits(int count) {
    bits_ = count;
    return static_cast<Derived&>(*this);
  }
  int bits() const { return bits_; }

  /// A table of one's own (calibrated, or from a file) instead of the default for `bits`.
  Derived& table(Table table) {
    table_ = std::move(table);
    return static_cast<Derived&>(*this);
  }
  const std::optional<Table>& table() const { return table_; }

  /// Accepted as torch::nn does; the input is not changed, since nothing of it is kept anyway.
  Derived& inplace(bool inplace) {
    inplace_ = inplace;
    return static_cast<Derived&>(*this);
  }
  bool inplace() const { return inplace_; }

 private:
  int bits_ = 3;
  bool inplace_ = false;
  std::optional<Table> table_;
};

struct GELUOptions : ActivationOptions<GELUOptions> {
  static constexpr const char* kName = "GELU";
  /// "none" or "tanh". Default: "none".
  TORCH_ARG(std::string, approximate) = "none";

 public:
  std::string function() const;
  NamedParameters parameters() const { return {}; }
};

struct ThresholdOptions : ActivationOptions<ThresholdOptions> {
  static constexpr const char* kName = "Threshold";
  ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value) {}
  /// Where x is not above it, `value` comes out.
  TORCH_ARG(double, threshold);
  TORCH_ARG(double, value);

 public:
  std::string function() const { return "threshold"; }
  NamedParameters parameters() const { return {{"threshold", threshold_}, {"value", value_}}; }
};

struct CELUOptions : ActivationOptions<CELUOptions> {
  static constexpr const char* kName = "CELU";
  TORCH_ARG(double, alpha) = 1.0;

 public:
  std::string function() const { return "celu"; }
  NamedParameters parameters() const { return {{"alpha", alpha_}}; }
};

struct ELUOptions : ActivationOptions<ELUOptions> {
  static constexpr const char* kName = "ELU";
  TORCH_ARG(double, alpha) = 1.0;

 public:
  std::string function() const { return "elu"; }
  NamedParameters parameters() const { return {{"alpha", alpha_}}; }
};

struct HardshrinkOptions : ActivationOptions<HardshrinkOptions> {
  static constexpr const char* kName = "Hardshrink";
  TORCH_ARG(double, lambda) = 0.5;

 public:
  std::string function() const { return "hardshrink"; }
  NamedParameters parameters() const { return {{"lambda", lambda_}}; }
};

struct HardsigmoidOptions : ActivationOptions<HardsigmoidOptions> {
  static constexpr const char* kName = "Hardsigmoid";
  std::string function() const { return "hardsigmoid"; }
  NamedParameters parameters() const { return {}; }
};

struct HardswishOptions : ActivationOptions<HardswishOptions> {
  static constexpr const char* kName = "Hardswish";
  std::string function() const { return "hardswish"; }
  NamedParameters parameters() const { return {}; }
};

struct HardtanhOptions : ActivationOptions<HardtanhOptions> {
  static constexpr const char* kName = "Hardtanh";
  TORCH_ARG(double, min_val) = -1.0;
  TORCH_ARG(double, max_val) = 1.0;

 public:
  std::string function() const { return "hardtanh"; }
  NamedParameters parameters() const { return {{"min_val", min_val_}, {"max_val", max_val_}}; }
};

struct LeakyReLUOptions : ActivationOptions<LeakyReLUOptions> {
  static constexpr const char* kName = "LeakyReLU";
  TORCH_ARG(double, negative_slope) = 0.01;

 public:
  std::string function() const { return "leaky_relu"; }
  NamedParameters parameters() const { return {{"negative_slope", negative_slope_}}; }
};

struct LogSigmoidOptions : ActivationOptions<LogSigmoidOptions> {
  static constexpr const char* kName = "LogSigmoid";
  std::string function() const { return "logsigmoid"; }
  NamedParameters parameters() const { return {}; }
};

struct MishOptions : ActivationOptions<MishOptions> {
  static constexpr const char* kName = "Mish";
  std::string function() const { return "mish"; }
  NamedParameters parameters() const { return {}; }
};

struct QuickGELUOptions : ActivationOptions<QuickGELUOptions> {
  static constexpr const char* kName = "QuickGELU";
  std::string function() const { return "quick_gelu"; }
  NamedParameters parameters() const { return {}; }
};

struct ReLUOptions : ActivationOptions<ReLUOptions> {
  static constexpr const char* kName = "ReLU";
  std::string function() const { return "relu"; }
  NamedParameters parameters() const { return {}; }
};

struct ReLU6Options : ActivationOptions<ReLU6Options> {
  static constexpr const char* kName = "ReLU6";
  std::string function() const { return "relu6"; }
  NamedParameters parameters() const { return {}; }
};

struct ReLUSquaredOptions : ActivationOptions<ReLUSquaredOptions> {
  static constexpr const char* kName = "ReLUSquared";
  std::string function() const { return "relu_squared"; }
  NamedParameters parameters() const { return {}; }
};

struct SELUOptions : ActivationOptions<SELUOptions> {
  static constexpr const char* kName = "SELU";
  std::string function() const { return "selu"; }
  NamedParameters parameters() const { return {}; }
};

struct SiLUOptions : ActivationOptions<SiLUOptions> {
  static constexpr const char* kName = "SiLU";
  TORCH_ARG(double, beta) = 1.0;

 public:
  std::string function() const { return "silu"; }
  NamedParameters parameters() const { return {{"beta", beta_}}; }
};

struct SigmoidOptions : ActivationOptions<SigmoidOptions> {
  static constexpr const char* kName = "Sigmoid";
  std::string function() const { return "sigmoid"; }
  NamedParameters parameters() const { return {}; }
};

struct SoftplusOptions : ActivationOptions<SoftplusOptions> {
  static constexpr const char* kName = "Softplus";
  TORCH_ARG(double, beta) = 1.0;
  TORCH_ARG(double, threshold) = 20.0;

 public:
  std::string function() const { return "softplus"; }
  NamedParameters parameters() const { return {{"beta", beta_}, {"threshold", threshold_}}; }
};

struct SoftshrinkOptions : ActivationOptions<SoftshrinkOptions> {
  static constexpr const char* kName = "Softshrink";
  TORCH_ARG(double, lambda) = 0.5;

 public:
  std::string function() const { return "softshrink"; }
  NamedParameters parameters() const { return {{"lambda", lambda_}}; }
};

struct SoftsignOptions : ActivationOptions<SoftsignOptions> {
  static constexpr const char* kName = "Softsign";
  std::string function() const { return "softsign"; }
  NamedParameters parameters() const { return {}; }
};

struct TanhOptions : ActivationOptions<TanhOptions> {
  static constexpr const char* kName = "Tanh";
  std::string function() const { return "tanh"; }
  NamedParameters parameters() const { return {}; }
};

struct TanhshrinkOptions : ActivationOptions<TanhshrinkOptions> {
  static constexpr const char* kName = "Tanhshrink";
  std::string function() const { return "tanhshrink"; }
  NamedParameters parameters() const { return {}; }
};

}  // namespace fewbit::nn

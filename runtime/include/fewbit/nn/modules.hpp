#pragma once

#include <ostream>

#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>

#include "fewbit/functional.hpp"
#include "fewbit/nn/few_bit_module.hpp"
#include "fewbit/nn/options.hpp"

/// Modules with the names and options of torch::nn, few bits per element kept for backward. They
/// have no parameters and no buffers: a model's saved state does not change with them.
///
///   fewbit::nn::GELU act(fewbit::nn::GELUOptions().bits(3));
namespace fewbit::nn {

/// The table that was given, or the default one. Throws c10::Error, naming the module, for a table
/// of another function or other parameters.
Table table_for(const char* module, const std::string& function, const NamedParameters& parameters,
                int bits, const std::optional<Table>& given);

/// One implementation for all; Options names the function and its parameters.
template <class Options>
class ActivationImpl : public torch::nn::Cloneable<ActivationImpl<Options>>, public FewBitModule {
 public:
  explicit ActivationImpl(const Options& options_ = Options())
      : FewBitModule(table_for(Options::kName, options_.function(), options_.parameters(),
                               options_.bits(), options_.table())),
        options(options_) {}

  at::Tensor forward(const at::Tensor& x) { return activation(x, watched(x)); }

  void reset() override {}

  /// "fewbit::nn::ELU(alpha=0.5, bits=3, table=smoothed_normal_b3)".
  void pretty_print(std::ostream& stream) const override {
    stream << "fewbit::nn::" << Options::kName << '(';
    for (const auto& [name, value] : options.parameters()) stream << name << '=' << value << ", ";
    const Table now = table();
    stream << "bits=" << now.bits() << ", table=" << now.name() << ')';
  }

  void set_table(Table table) override {
    use(table_for(Options::kName, options.function(), options.parameters(), options.bits(),
                  std::move(table)));
  }

  Options options;
};

#define FEWBIT_MODULE(Name)                            \
  extern template class ActivationImpl<Name##Options>; \
  using Name##Impl = ActivationImpl<Name##Options>;    \
  TORCH_MODULE(Name)

FEWBIT_MODULE(CELU);
FEWBIT_MODULE(ELU);
FEWBIT_MODULE(GELU);
FEWBIT_MODULE(Hardshrink);
FEWBIT_MODULE(Hardsigmoid);
FEWBIT_MODULE(Hardswish);
FEWBIT_MODULE(Hardtanh);
FEWBIT_MODULE(LeakyReLU);
FEWBIT_MODULE(LogSigmoid);
FEWBIT_MODULE(Mish);
FEWBIT_MODULE(QuickGELU);
FEWBIT_MODULE(ReLU);
FEWBIT_MODULE(ReLU6);
FEWBIT_MODULE(ReLUSquared);
FEWBIT_MODULE(SELU);
FEWBIT_MODULE(SiLU);
FEWBIT_MODULE(Sigmoid);
FEWBIT_MODULE(Softplus);
FEWBIT_MODULE(Softshrink);
FEWBIT_MODULE(Softsign);
FEWBIT_MODULE(Tanh);
FEWBIT_MODULE(Tanhshrink);
FEWBIT_MODULE(Threshold);

#undef FEWBIT_MODULE

}  // namespace fewbit::nn

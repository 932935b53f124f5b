#include "fewbit/nn/modules.hpp"

namespace fewbit::nn {

std::string GELUOptions::function() const {
  TORCH_CHECK(approximate_ == "none" || approximate_ == "tanh",
              "fewbit::nn::GELU: approximate is '", approximate_, "', accepted: none, tanh");
  return approximate_ == "tanh" ? "gelu_tanh" : "gelu";
}

namespace {

std::vector<double> values_of(const NamedParameters& parameters) {
  std::vector<double> values;
  for (const auto& [name, value] : parameters) values.push_back(value);
  return values;
}

}  // namespace

template <class Options>
Table ActivationImpl<Options>::checked(const Options& options, Table table) {
  TORCH_CHECK(table.is_for(options.function(), values_of(options.parameters())),
              "fewbit::nn::", Options::kName, ": the table ", table.name(), " is for ",
              table.function(), " with parameters ", at::ArrayRef<double>(table.parameters()),
              ", but the module computes ", options.function(), " with parameters ",
              at::ArrayRef<double>(values_of(options.parameters())));
  return table;
}

template <class Options>
Table ActivationImpl<Options>::choose(const Options& options) {
  if (options.table()) return checked(options, *options.table());
  return Table::standard(options.function(), Bits{options.bits()}, values_of(options.parameters()));
}

template class ActivationImpl<CELUOptions>;
template class ActivationImpl<ELUOptions>;
template class ActivationImpl<GELUOptions>;
template class ActivationImpl<HardshrinkOptions>;
template class ActivationImpl<HardsigmoidOptions>;
template class ActivationImpl<HardswishOptions>;
template class ActivationImpl<HardtanhOptions>;
template class ActivationImpl<LeakyReLUOptions>;
template class ActivationImpl<LogSigmoidOptions>;
template class ActivationImpl<MishOptions>;
template class ActivationImpl<QuickGELUOptions>;
template class ActivationImpl<ReLUOptions>;
template class ActivationImpl<ReLU6Options>;
template class ActivationImpl<ReLUSquaredOptions>;
template class ActivationImpl<SELUOptions>;
template class ActivationImpl<SiLUOptions>;
template class ActivationImpl<SigmoidOptions>;
template class ActivationImpl<SoftplusOptions>;
template class ActivationImpl<SoftshrinkOptions>;
template class ActivationImpl<SoftsignOptions>;
template class ActivationImpl<TanhOptions>;
template class ActivationImpl<TanhshrinkOptions>;
template class ActivationImpl<ThresholdOptions>;

}  // namespace fewbit::nn

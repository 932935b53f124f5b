#include "fewbit/nn/modules.hpp"

namespace fewbit::nn {

std::string GELUOptions::function() const {
  TORCH_CHECK(approximate_ == "none" || approximate_ == "tanh",
              "fewbit::nn::GELU: approximate is '", approximate_, "', accepted: none, tanh");
  return approximate_ == "tanh" ? "gelu_tanh" : "gelu";
}

Table table_for(const char* module, const std::string& function, const NamedParameters& parameters,
                int bits, const std::optional<Table>& given) {
  std::vector<double> values;
  for (const auto& [name, value] : parameters) values.push_back(value);
  if (!given) return Table::standard(function, Bits{bits}, values);
  TORCH_CHECK(given->is_for(function, values), "fewbit::nn::", module, ": the table ",
              given->name(), " is for ", given->function(), " with parameters ",
              at::ArrayRef<double>(given->parameters()), ", but the module computes ", function,
              " with parameters ", at::ArrayRef<double>(values));
  return *given;
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

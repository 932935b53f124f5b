#include "fewbit/nn/activation_module.hpp"

namespace fewbit::nn {

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

}  // namespace fewbit::nn

#include "fewbit/register_activation.hpp"

#include <c10/util/Exception.h>

#include "kernels/activation/activation.hpp"
#include "tables/registered_tables.hpp"

namespace fewbit {

void register_activation(const kernels::Activation& kernels, const std::string& table_json) {
  const bool is_known = kernels::find_activation(kernels.name) != nullptr;
  TORCH_CHECK(!is_known || find_registered(kernels.name) != nullptr,
              "fewbit::register_activation: ", kernels.name, " is a built-in function");
  register_table(kernels.name, table_json);
  kernels::register_activation(kernels);  // false: it is known already
}

}  // namespace fewbit

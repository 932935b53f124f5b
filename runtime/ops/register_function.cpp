#include "fewbit/register_function.hpp"

#include <c10/util/Exception.h>

#include "kernels/activation/activation.hpp"
#include "tables/added.hpp"

namespace fewbit {

void register_function(const kernels::Activation& kernels, const std::string& table_json) {
  const bool is_known = kernels::find_activation(kernels.name) != nullptr;
  TORCH_CHECK(!is_known || find_added(kernels.name) != nullptr,
              "fewbit::register_function: ", kernels.name, " is a built-in function");
  add_function(kernels.name, table_json);
  kernels::add_activation(kernels);  // false: it is known already
}

}  // namespace fewbit

#include "nn/chosen_function.hpp"

#include <c10/util/Exception.h>

namespace fewbit {

std::string chosen_function(const char* caller, const char* option, const std::string& given,
                            std::initializer_list<std::pair<const char*, const char*>> accepted) {
  std::string values;
  for (const auto& [value, function] : accepted) {
    if (given == value) return function;
    values += (values.empty() ? "" : ", ") + std::string(value);
  }
  TORCH_CHECK(false, caller, ": ", option, " is '", given, "', accepted: ", values);
}

}  // namespace fewbit

#pragma once

#include <initializer_list>
#include <string>
#include <utility>

namespace fewbit {

/// The function that an option of libtorch's stands for: gelu's approximate, "tanh" for
/// "gelu_tanh". Throws c10::Error, naming `caller` and what is accepted, for any other value.
std::string chosen_function(const char* caller, const char* option, const std::string& given,
                            std::initializer_list<std::pair<const char*, const char*>> accepted);

}  // namespace fewbit

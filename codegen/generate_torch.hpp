#pragma once

#include <vector>

#include "codegen/generate.hpp"
#include "functions/registry.hpp"

namespace fewbit::codegen {

/// What a libtorch user sees of the registry:
///   include/fewbit/functional.hpp, nn/options.hpp, nn/modules.hpp   the public headers
///   torch/functional.cpp, modules.cpp                               their definitions
///   python/functional.py, modules.py                                the same for Python
///   torch.inc                                                       the same as a list
Files torch_files(const std::vector<solver::FunctionInfo>& registry);

}  // namespace fewbit::codegen

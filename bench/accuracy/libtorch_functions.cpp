#include "bench/accuracy/libtorch_functions.hpp"

#include <ATen/ATen.h>

namespace fewbit::bench {

const std::map<std::string, LibtorchFunction>& libtorch_functions() {
#define FEWBIT_WRITTEN(function, text) {#function, [](const at::Tensor& x) { return text; }},
  static const std::map<std::string, LibtorchFunction> kFunctions = {
#include "generated/torch.inc"
  };
  return kFunctions;
}

}  // namespace fewbit::bench

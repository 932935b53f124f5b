#include "kernels/activation.hpp"

namespace fewbit::kernels {

namespace builtin {
std::span<const Activation> activations();
}

std::span<const Activation> activations() {
  return builtin::activations();
}

const Activation* find_activation(std::string_view name) {
  for (const Activation& activation : activations()) {
    if (activation.name == name) return &activation;
  }
  return nullptr;
}

}  // namespace fewbit::kernels

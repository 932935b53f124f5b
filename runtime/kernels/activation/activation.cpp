#include "kernels/activation/activation.hpp"

#include "kernels/activation/known_activations.hpp"

namespace fewbit::kernels {

namespace builtin {
std::span<const Activation> activations();
}

namespace {

KnownActivations<Activation>& known() {
  static KnownActivations<Activation> known(activations());
  return known;
}

}  // namespace

std::span<const Activation> activations() {
  return builtin::activations();
}

const Activation* find_activation(std::string_view name) {
  return known().find(name);
}

bool register_activation(const Activation& activation) {
  return known().add(activation);
}

}  // namespace fewbit::kernels

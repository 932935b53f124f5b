#include "fewbit/activation.hpp"

#include "ops/activation.hpp"

namespace fewbit {

at::Tensor activation(const at::Tensor& x, const Table& table,
                      const std::optional<at::Generator>& generator) {
  return ops::activation(x, table, generator);
}

}  // namespace fewbit

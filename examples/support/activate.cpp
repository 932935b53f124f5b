#include "examples/support/activate.hpp"

#include <algorithm>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>
#include <c10/util/Exception.h>

#include "fewbit/functional.hpp"

namespace fewbit::examples {

namespace {

bool are_same(const Table& one, const Table& other) {
  const TableData &a = one.data(), &b = other.data();
  return a.thresholds == b.thresholds && a.interval_codes == b.interval_codes &&
         a.levels == b.levels && a.even == b.even;
}

}  // namespace

std::string Choice::label() const {
  return bits == 0 ? form : form + " " + std::to_string(bits) + " bit";
}

Choice exact(const std::string& function) {
  if (function == "gelu")
    return {"exact", 0, [](const at::Tensor& x) { return at::gelu(x); }, false};
  if (function == "relu")
    return {"exact", 0, [](const at::Tensor& x) { return at::relu(x); }, false};
  TORCH_CHECK(function == "silu", "exact: gelu, relu or silu, not ", function);
  return {"exact", 0, [](const at::Tensor& x) { return at::silu(x); }, false};
}

// Draws of the unbiased form come from a generator of the choice's own: runs in several threads
// stay reproducible.
Choice by_table(const std::string& form, const Table& table) {
  const at::Generator generator = at::detail::createCPUGenerator();
  return {form, table.bits(),
          [table, generator](const at::Tensor& x) { return activation(x, table, generator); },
          false};
}

Choice few_bit(const std::string& function, const std::string& form, int bits) {
  return by_table(form, Table::builtin(function, form + "_b" + std::to_string(bits)));
}

Choice standard(const std::string& function, int bits) {
  return by_table("standard", Table::standard(function, Bits{bits}));
}

Choice calibrated(const std::string& function, int bits) {
  return {"calibrated", bits, exact(function).activate, true};
}

std::vector<Choice> few_bit_choices(const std::string& function,
                                    const std::vector<std::string>& forms, int most_bits,
                                    bool distinct) {
  std::vector<Choice> choices;
  for (int bits = 1; bits <= most_bits; ++bits) {
    std::vector<Table> taken;
    for (const std::string& form : forms) {
      const Table table = Table::builtin(function, form + "_b" + std::to_string(bits));
      const bool known = std::any_of(taken.begin(), taken.end(),
                                     [&](const Table& other) { return are_same(table, other); });
      if (known && distinct) continue;
      taken.push_back(table);
      choices.push_back(by_table(form, table));
    }
  }
  return choices;
}

int64_t code_bytes(int64_t elements, int bits) {
  return ((elements * bits + 7) / 8 + 15) / 16 * 16;
}

}  // namespace fewbit::examples

// The arguments of kernels as the launchers pass them, for counting what the kernels issue: of
// every function's forward pass with the tables that are its default ones, of backward, and of the
// quantizers, over 2^20 elements at aligned addresses. Prints JSON, an array of passes with the
// bytes in hexadecimal.

#include "kernels/activation/cuda/arguments.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/counts/arguments.hpp"
#include "functions.hpp"
#include "kernels/activation/cuda/activation.hpp"
#include "step_table.hpp"

namespace {

using fewbit::generated::StepTable;
using fewbit::kernels::ElementType;
using fewbit::kernels::StepView;
using nlohmann::ordered_json;

namespace cuda = fewbit::kernels::cuda;

using fewbit::counts::address;
using fewbit::counts::Bytes;
using fewbit::counts::kCount;
using fewbit::counts::kTypeNames;
using fewbit::counts::kTypes;

struct Entry {
  std::string_view function;
  const StepTable* table;
};

constexpr Entry kTables[] = {
#define FEWBIT_TABLE(function, name) {#function, &fewbit::generated::function::tables::name},
#include "registry.inc"
};

StepView view_of(const StepTable& table) {
  return {table.bits,  table.even,        table.threshold_count, table.thresholds,
          table.codes, table.level_count, table.levels};
}

/// Those of Table::standard, and of GELU the one of the paper.
bool is_counted(const Entry& entry) {
  const std::string_view name = entry.table->name;
  return name.starts_with("smoothed_normal") ||
         (name == "levels_uniform_b1" && entry.table->error == 0.0) ||
         (entry.function == "gelu" && name == "intervals_uniform_b3");
}

/// That a thread works on.
int elements_of(ElementType type) {
  return type == ElementType::f64 ? 1 : cuda::kPerLane;
}

cuda::Parameters defaults_of(std::string_view function) {
  const auto* activation = cuda::find_activation(function);
  return cuda::parameters_of(activation->default_parameters, activation->parameter_count);
}

/// `table` null: values only.
ordered_json forward_pass(std::string_view function, ElementType type, const StepTable* table) {
  const char* const type_name = kTypeNames[static_cast<int>(type)];
  cuda::ForwardArguments pass{};
  pass.x = address<void>(1);
  pass.y = address<void>(2);
  pass.count = kCount;
  pass.is_aligned = true;
  pass.parameters = defaults_of(function);
  ordered_json row = {{"pass", "forward"}, {"function", function}, {"type", type_name}};
  row["elements"] = elements_of(type);
  if (table != nullptr) {
    pass.codes = address<uint8_t>(3);
    pass.steps = cuda::step_sum(view_of(*table), type);
    row["bits"] = table->bits;
    row["table"] = table->name;
    row["thresholds"] = table->threshold_count;
    row["even"] = table->even;
  }
  Bytes arguments;
  if (type == ElementType::f64) {
    arguments << pass.x << pass.y << pass.count << pass.parameters;
  } else {
    arguments << pass;
  }
  row["arguments"] = arguments.hex();
  return row;
}

ordered_json backward_pass(ElementType type, int bits) {
  const cuda::BackwardArguments pass = {address<void>(1), address<uint8_t>(2), address<void>(3),
                                        kCount, true};
  Bytes arguments;
  if (type == ElementType::f64) {
    arguments << pass.dy << pass.codes << pass.dx << pass.count << bits << cuda::WideLevels{};
  } else {
    arguments << pass << cuda::Levels{};
  }
  return {{"pass", "backward"},
          {"type", kTypeNames[static_cast<int>(type)]},
          {"bits", bits},
          {"elements", elements_of(type)},
          {"arguments", arguments.hex()}};
}

ordered_json passes() {
  ordered_json rows = ordered_json::array();
  for (const ElementType type : kTypes) {
    for (const auto& activation : cuda::activations()) {
      rows.push_back(forward_pass(activation.name, type, nullptr));
    }
    for (const Entry& entry : kTables) {
      if (is_counted(entry) && cuda::is_summed(view_of(*entry.table), type)) {
        rows.push_back(forward_pass(entry.function, type, entry.table));
      }
    }
    for (int bits = 1; bits <= 8; ++bits) rows.push_back(backward_pass(type, bits));
  }
  for (const ordered_json& row : fewbit::counts::quantizer_passes()) rows.push_back(row);
  return rows;
}

}  // namespace

int main() {
  std::cout << passes().dump() << '\n';
}

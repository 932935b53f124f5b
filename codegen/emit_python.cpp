#include <cmath>

#include <fmt/format.h>

#include "codegen/emit_parts.hpp"
#include "codegen/literal.hpp"
#include "codegen/python_code.hpp"
#include "codegen/table_text.hpp"
#include "functions/registry.hpp"

namespace fewbit::codegen {

namespace {

using solver::Form;
using solver::Symmetry;
using solver::Table;

bool is_unbiased(const Table& table) {
  return table.problem.form == Form::unbiased;
}

std::string tuple(const std::string& name, const std::vector<std::string>& items) {
  if (items.empty()) return name + " = ()\n";
  return name + " = (\n" + comma_list(items, 4) + ",\n)\n";
}

template <class Number>
std::vector<std::string> literals(const std::vector<Number>& values) {
  std::vector<std::string> items;
  for (const Number value : values) {
    const auto number = static_cast<double>(value);
    items.push_back(std::isfinite(number) ? double_literal(number) : "-float(\"inf\")");
  }
  return items;
}

/// Exactly 2^bits: codes that the table does not use decode as the last level.
std::string levels_text(const Table& table) {
  std::vector<double> levels = table.levels;
  levels.resize(size_t{1} << table.bits(), levels.back());
  return tuple("LEVELS", literals(levels));
}

/// What the generator's numbers need of the code; nothing for tables with thresholds.
Values random_values(bool is_unbiased, bool is_triton) {
  const char* keys[] = {"RANDOM_NAME",    "RANDOM_TYPED",   "RANDOM_FLAT",     "RANDOM_DRAW",
                        "RANDOM_POINTER", "RANDOM_ELEMENT", "RANDOM_GRADIENT", "RANDOM_NOTE"};
  Values values;
  for (const char* key : keys) values[key] = "";
  if (!is_unbiased) return values;
  const std::string name = is_triton ? ", seed" : ", uniform";
  values["RANDOM_NAME"] = name;
  values["RANDOM_TYPED"] = name + ": Tensor";
  values["RANDOM_FLAT"] = ", uniform.reshape(-1)";
  values["RANDOM_DRAW"] = is_triton ? ", torch.randint(2**62, (1,), device=x.device)"
                                    : ", torch.rand(x.shape, dtype=torch.float32, device=x.device)";
  values["RANDOM_POINTER"] = name;
  values["RANDOM_ELEMENT"] = ", tl.rand(tl.load(seed), i)";
  values["RANDOM_GRADIENT"] = ", None";
  values["RANDOM_NOTE"] =
      std::string(
          "\n\nThe step is one of the two around f'(x), drawn so that the mean over draws "
          "is f'(x).\n") +
      (is_triton
           ? "Each call draws a seed for Triton's Philox from torch's generator for x's device"
           : "Each call draws a number for each element from torch's generator for x's device") +
      ":\ntorch.manual_seed(s) makes them repeat, and a checkpoint that restores the generator "
      "too.";
  return values;
}

/// Each threshold compared: the code takes a step there.
std::string compared_steps(const Table& table) {
  const std::vector<std::string> thresholds = literals(float_thresholds(table));
  std::string text;
  for (size_t i = 0; i < thresholds.size(); ++i) {
    text += fmt::format("    code += tl.where(position > {}, {}, 0)\n", thresholds[i],
                        table.codes[i + 1] - table.codes[i]);
  }
  return text;
}

std::string triton_halving_text(size_t thresholds) {
  std::string text;
  for (const size_t step : halving_steps(thresholds)) {
    text += fmt::format(
        "    interval += tl.where(position > tl.load(thresholds + interval + {}), {}, 0)\n",
        step - 1, step);
  }
  return text;
}

/// The Triton code that finds codes, and what it is given of the table.
void add_triton_encode(Values& values, const Table& table) {
  const auto constant = [](const std::string& name, const std::string& type) {
    return ", _constant(" + name + ", torch." + type + ", x.device)";
  };
  const bool is_even = table.symmetry == Symmetry::even;
  values["POSITION"] = is_even ? "tl.abs(x)" : "x";
  values["TABLE_NAMES"] = values["TABLE_VALUES"] = "";
  std::string file = "triton_compare.py.in";
  if (is_unbiased(table)) {
    file = "triton_unbiased.py.in";
    values["TABLE_NAMES"] = ", levels";
    values["TABLE_VALUES"] = constant("LEVELS", "float32");
  } else if (table.thresholds.size() > kMostCompared) {
    file = "triton_halve.py.in";
    values["STEPS"] = triton_halving_text(table.thresholds.size());
    values["TABLE_NAMES"] = ", thresholds, codes_of_intervals";
    values["TABLE_VALUES"] = constant("THRESHOLDS", "float32") + constant("CODES", "int32");
    values["CONSTANTS"] += "# The largest float32 not above each threshold of the table.\n" +
                           tuple("THRESHOLDS", literals(float_thresholds(table))) +
                           tuple("CODES", code_literals(table));
  } else {
    values["STEPS"] = compared_steps(table);
    values["FIRST_CODE"] = std::to_string(table.codes[0]);
  }
  values["ENCODE"] = render(file, values);
}

void add_torch_encode(Values& values, const Table& table) {
  values["POSITION"] = table.symmetry == Symmetry::even ? "x.abs()" : "x";
  if (!is_unbiased(table)) {
    values["CONSTANTS"] +=
        tuple("THRESHOLDS", literals(table.thresholds)) + tuple("CODES", code_literals(table));
  }
  values["ENCODE"] =
      render(is_unbiased(table) ? "torch_unbiased.py.in" : "torch_thresholds.py.in", values);
}

Values language_values(bool is_triton) {
  if (!is_triton) {
    return {
        {"NEEDS", "PyTorch 2.8 or newer"},
        {"DTYPES", "float32, float64, float16 or bfloat16"},
        {"PRECISION", "It is computed in float32, for float64 in\nthat."},
        {"EXAMPLE_DEVICE", ""},
        {"IMPORTS", "\nimport torch\nfrom torch import Tensor\n"},
        {"CONSTANTS", "_DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)\n"}};
  }
  return {{"NEEDS", "PyTorch 2.8 or newer and the Triton that comes with it"},
          {"DTYPES", "float32, float16 or bfloat16"},
          {"PRECISION", "It is computed in float32, on CUDA devices only."},
          {"EXAMPLE_DEVICE", ", device=\"cuda\""},
          {"IMPORTS",
           "\nimport torch\nimport triton\nimport triton.language as tl\nfrom torch import Tensor\n"
           "from triton.language.extra import libdevice\n"},
          {"CONSTANTS", "_DTYPES = (torch.float32, torch.float16, torch.bfloat16)\n"}};
}

/// _value and, where codes are drawn by it, _slope; the primitives under them.
void add_function(Values& values, const Table& table, bool is_triton) {
  const solver::Expression expression = solver::expression_of(table.problem.function);
  const PythonDialect dialect = is_triton ? triton_dialect() : torch_dialect();
  std::set<std::string> primitives;
  values["FUNCTION"] = write_python(expression, false, "_value", dialect, primitives);
  if (is_unbiased(table)) {
    values["FUNCTION"] += write_python(expression, true, "_slope", dialect, primitives);
  }
  values["MATH"] = python_sections(
      primitives, {{"JIT", dialect.decorator},
                   {"CORE", dialect.core},
                   {"LIB", dialect.library},
                   {"RINT", is_triton ? "libdevice.rint" : "torch.round"},
                   {"ERFCX", is_triton ? "libdevice.erfcx" : "torch.special.erfcx"}});
}

}  // namespace

std::string emit_python(const Table& table, Language language, const std::string& name_space) {
  const bool is_triton = language == Language::triton;
  Values values = common_values(table, language, name_space);
  values.merge(random_values(is_unbiased(table), is_triton));
  values.merge(language_values(is_triton));
  values["SUMMARY"] = summary_text(table, "    ");
  values["EXAMPLE_BYTES"] = std::to_string((1000 * table.bits() + 127) / 128 * 16);
  values["LAST_LEVEL"] = std::to_string(table.levels.size() - 1);
  values["CONSTANTS"] += levels_text(table);
  add_function(values, table, is_triton);
  (is_triton ? add_triton_encode : add_torch_encode)(values, table);
  values["ENGINE"] = render(is_triton ? "triton.py.in" : "torch.py.in", values);
  return render("module.py.in", values);
}

}  // namespace fewbit::codegen

#include "codegen/generate_torch.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "codegen/kernel_files.hpp"
#include "codegen/templates.hpp"
#include "codegen/torch_function.hpp"
#include "table/json.hpp"

namespace fewbit::codegen {

namespace {

using solver::FunctionInfo;

/// The texts of all functions, with an empty line between those that are not empty.
template <class Text>
std::string all_of(const std::vector<TorchFunction>& functions, const Text& text_of) {
  std::string all;
  for (const TorchFunction& function : functions) {
    const std::string text = text_of(function);
    if (!text.empty()) all += (all.empty() ? "" : "\n") + text;
  }
  return all;
}

std::string functional_header(const std::vector<TorchFunction>& functions) {
  std::vector<TorchFunction> smooth, steps;
  for (const TorchFunction& function : functions) {
    (function.is_step ? steps : smooth).push_back(function);
  }
  return render("torch_functional.in",
                {{"DECLARATIONS", all_of(smooth, function_declaration)},
                 {"STEP_DECLARATIONS", all_of(steps, function_declaration)}});
}

std::string registry_include(const Functions& functions) {
  std::string text = "// " + kNotice +
                     "//\n"
                     "// FEWBIT_MODULE(of fewbit::nn), FEWBIT_OPTION(module, a parameter's name),\n"
                     "// FEWBIT_OPERATION(function, of aten, its choice, default parameters...),\n"
                     "// FEWBIT_WRITTEN(function, how libtorch's users write it): define what you "
                     "need before\n// including this file; all are undefined after it.\n";
  for (const char* name : {"MODULE", "OPTION", "OPERATION", "WRITTEN"}) {
    text += fmt::format("#if !defined(FEWBIT_{0})\n#define FEWBIT_{0}(...)\n#endif\n", name);
  }
  text += "\n" + torch_registry(functions) + "\n";
  for (const char* name : {"MODULE", "OPTION", "OPERATION", "WRITTEN"}) {
    text += fmt::format("#undef FEWBIT_{}\n", name);
  }
  return text;
}

std::string own_comment(const solver::Table& table) {
  return fmt::format(
      "In the manner of activation.hpp. The table for {} bits was solved in the build;\n/// one "
      "for "
      "other bits is solved at first use, for the same form, objective, weight and domain.",
      table.bits());
}

}  // namespace

Files torch_files(const std::vector<FunctionInfo>& registry) {
  const std::vector<TorchFunction> functions = torch_functions(registry);
  const auto lines = [&](const char* start, const char* end) {
    std::string text;
    for (const TorchFunction& function : functions) text += start + function.module + end;
    return text;
  };
  Files files;
  files["include/fewbit/functional.hpp"] = functional_header(functions);
  files["include/fewbit/nn/options.hpp"] =
      render("torch_options_header.in", {{"STRUCTS", all_of(functions, [](const auto& function) {
                                            return options_struct(function);
                                          })}});
  files["include/fewbit/nn/modules.hpp"] =
      render("torch_modules.in", {{"MODULES", lines("FEWBIT_MODULE(", ");\n")}});
  files["torch/functional.cpp"] = render("torch_functional_source.in",
                                         {{"DEFINITIONS", all_of(functions, function_definition)}});
  files["torch/modules.cpp"] =
      render("torch_modules_source.in",
             {{"DEFINITIONS", all_of(functions, options_definition)},
              {"INSTANTIATIONS", lines("template class ActivationImpl<", "Options>;\n")}});
  files["torch.inc"] = registry_include(registry);
  const auto names = [&](const auto& name_of) {
    std::string text;
    for (const TorchFunction& function : functions) text += "    \"" + name_of(function) + "\",\n";
    return text;
  };
  files["python/functional.py"] = render(
      "python_functional.in",
      {{"NAMES", names(python_name_of)}, {"DEFINITIONS", all_of(functions, python_function)}});
  files["python/modules.py"] =
      render("python_modules.in",
             {{"NAMES", names([](const TorchFunction& function) { return function.module; })},
              {"DEFINITIONS", all_of(functions, python_module)}});
  return files;
}

Files generate_torch(const solver::Table& table) {
  const solver::FunctionSpec& function = table.problem.function;
  const FunctionInfo info{function.name, {}, {}, function.expression, {}};
  if (!function.parameters.empty()) throw Error("'" + info.name + "' has parameters");
  const TorchFunction torch = own_torch_function(info.name, info.expression, own_comment(table));
  Files kernels = kernel_files({info}, {});
  const std::string header = info.name + ".hpp";
  if (kernels.contains(header))
    throw Error("'" + info.name + "' is taken by a file of the kernels");
  kernels[header] = function_header(info, {}, info.name + ".json");
  const std::string start =
      "  " + torch.module + "Options() { bits(" + std::to_string(table.bits()) + "); }\n";
  const Values values = {{"NAME", info.name},
                         {"MODULE", torch.module},
                         {"DECLARATION", function_declaration(torch)},
                         {"DEFINITION", function_definition(torch)},
                         {"OPTIONS", options_struct(torch, start)},
                         {"TABLE", solver::to_json(table)}};
  kernels["activation.cpp"] = render("torch_source.in", values);
  kernels[info.name + ".cu"] =
      cuda_source(info.name, "own_" + info.name, info.name + "/" + header, info.name + ".json");
  Files files = {{"fewbit/nn/" + header, render("torch_header.in", values)}};
  for (auto& [name, text] : kernels) files[info.name + "/" + name] = std::move(text);
  return files;
}

}  // namespace fewbit::codegen

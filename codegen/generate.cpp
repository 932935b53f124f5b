#include "codegen/generate.hpp"

#include "codegen/generate_torch.hpp"
#include "codegen/kernel_files.hpp"
#include "codegen/normal_quantizer.hpp"
#include "codegen/trellis_quantizer.hpp"
#include "functions/registry.hpp"

namespace fewbit::codegen {

namespace {

std::string sources_list(const Files& files) {
  std::string headers, kernels;
  for (const auto& [name, content] : files) {
    (name.ends_with(".cu") ? kernels : headers) += "\n  " + name;
  }
  return "# " + kNotice + "set(FEWBIT_GENERATED_HEADERS" + headers +
         ")\nset(FEWBIT_GENERATED_CUDA" + kernels + ")\n";
}

}  // namespace

Files generate_files(const std::vector<solver::Table>& tables,
                     const std::vector<solver::TrellisQuantizer>& trellises) {
  Files files = kernel_files(solver::registry(), tables);
  for (const solver::FunctionInfo& info : solver::registry()) {
    files[info.name + ".hpp"] =
        function_header(info, tables, "the registry and tables/" + info.name);
    files["cuda/" + info.name + ".cu"] =
        cuda_source(info.name, "builtin", "generated/" + info.name + ".hpp", "the registry");
  }
  files.merge(normal_quantizer_files(tables));
  files.merge(trellis_quantizer_files(trellises));
  files["sources.cmake"] = sources_list(files);
  files.merge(torch_files(solver::registry()));
  files[".clang-format"] = "# " + kNotice + "DisableFormat: true\nSortIncludes: Never\n";
  return files;
}

}  // namespace fewbit::codegen

// emit_fixture FOLDER: writes the files that the compile and run tests take, in every language,
// from tables made by hand: every width from 1 to 8 bits, the last that is compared threshold by
// threshold and the first that is not, an even table, one with parameters, an unbiased one, two
// that were fitted to different data, one of a user's function; and every function of the registry
// for Python. FOLDER/own/NAME.hpp: users' functions as fewbit_add_activation(TORCH) writes them.
#include <cstdio>
#include <exception>
#include <sstream>

#include "base/file.hpp"
#include "codegen/emit.hpp"
#include "codegen/generate.hpp"
#include "fixtures.hpp"
#include "functions/registry.hpp"
#include "own_functions.hpp"

namespace {

using fewbit::codegen::emit_code;
using fewbit::codegen::Language;
using fewbit::solver::Form;
using fewbit::solver::Table;

/// The example of a header's comment as a program of its own; that for CUDA with all three types.
std::string example_program(const std::string& header) {
  std::istringstream lines(header);
  std::string line;
  while (std::getline(lines, line) && line != "// Example:") {
  }
  std::string includes;
  std::string body;
  while (std::getline(lines, line) && (line == "//" || line.starts_with("//   "))) {
    if (line == "//") continue;
    (line.starts_with("//   #") ? includes : body) += line.substr(5) + "\n";
  }
  std::string blocks = "{\n" + body + "}\n";
  for (const char* type : {"float", "__nv_bfloat16"}) {
    const size_t place = body.find("__half *x");
    if (place == std::string::npos) break;
    blocks += "{\n" + std::string(body).replace(place, 6, type) + "}\n";
  }
  return includes + "int main() {\n" + blocks + "}\n";
}

void write_header(const Table& table, Language language, const std::string& path,
                  const std::string& name_space) {
  const std::string text = emit_code(table, language, name_space);
  fewbit::write_text_file(path, text);
  fewbit::write_text_file(path + ".example", example_program(text));
}

void write_python(const Table& table, const std::string& path) {
  fewbit::write_text_file(path + "_torch.py", emit_code(table, Language::torch));
  fewbit::write_text_file(path + "_triton.py", emit_code(table, Language::triton));
}

void write_tables(const std::string& folder) {
  for (const auto& [name, table] : fewbit::test::emitted_tables()) {
    const std::string path = folder + "/" + name;
    write_header(table, Language::cpp, path + ".hpp", "emitted::" + name);
    write_header(table, Language::cuda, path + ".cuh", "emitted_cuda::" + name);
    write_python(table, path);
  }
}

/// Two layers' tables of one function with the namespaces that they get by default, and one of them
/// twice; layers.hpp gives them short names.
void write_layers(const std::string& folder) {
  std::string names;
  for (int layer = 0; layer < 2; ++layer) {
    Table table = fewbit::test::gelu_levels_b3();
    table.levels[0] -= 0.001 * layer;
    const std::string stem = "layer" + std::to_string(layer);
    write_header(table, Language::cpp, folder + "/" + stem + ".hpp", "");
    write_header(table, Language::cuda, folder + "/" + stem + ".cuh", "");
    write_python(table, folder + "/" + stem);
    names += "#include \"" + stem + ".hpp\"\nnamespace " + stem + " = " +
             fewbit::codegen::default_namespace(table, Language::cpp) + ";\n";
    if (layer == 0) write_header(table, Language::cpp, folder + "/layer0_again.hpp", "");
  }
  fewbit::write_text_file(folder + "/layers.inc", names + "#include \"layer0_again.hpp\"\n");
}

/// Unbiased, so that the files hold f and f'.
void write_functions(const std::string& folder) {
  for (const auto& info : fewbit::solver::registry()) {
    const Table table =
        fewbit::test::make_table(info.name, Form::unbiased, {}, {}, {-0.5, 0.0, 0.5, 1.5});
    write_python(table, folder + "/functions/" + info.name);
  }
}

void write_own(const std::string& folder, const std::string& name, const char* expression) {
  const auto files = fewbit::codegen::generate_torch(fewbit::test::own_table(name, expression));
  fewbit::write_text_file(folder + "/own/" + name + ".hpp", files.at(name + "/" + name + ".hpp"));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) return 2;
    write_tables(argv[1]);
    write_layers(argv[1]);
    write_functions(argv[1]);
#define WRITE_OWN(name, expression, has_limits) write_own(argv[1], #name, expression);
    FEWBIT_OWN_FUNCTIONS(WRITE_OWN)
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "emit_fixture: error: %s\n", error.what());
    return 1;
  }
}

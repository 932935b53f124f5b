// emit_fixture FOLDER: writes the headers that the compile and run tests include, from tables made
// by hand: every width from 1 to 8 bits, an even table, one with parameters, an unbiased one, one
// of a user's function. FOLDER/own/NAME.hpp: users' functions as `emit --lang torch` writes them.
#include <cstdio>
#include <exception>

#include "base/file.hpp"
#include "codegen/emit.hpp"
#include "codegen/generate.hpp"
#include "fixtures.hpp"
#include "own_functions.hpp"

namespace {

using fewbit::codegen::Language;
using fewbit::solver::Form;
using fewbit::solver::Table;

void write_both(const Table& table, const std::string& folder, const std::string& name) {
  fewbit::write_text_file(folder + "/" + name + ".hpp",
                          fewbit::codegen::emit_header(table, Language::cpp));
  fewbit::write_text_file(folder + "/" + name + ".cuh",
                          fewbit::codegen::emit_header(table, Language::cuda));
}

void write_all(const std::string& folder) {
  for (int bits = 1; bits <= 8; ++bits) {
    const Table table = fewbit::test::ladder(bits, Form::levels);
    write_both(table, folder, "gelu_b" + std::to_string(bits));
  }
  write_both(fewbit::test::repeating_levels_b3(), folder, "gelu_repeats");
  Table unbiased = fewbit::test::ladder(2, Form::unbiased);
  unbiased.problem.function = fewbit::solver::parse_function("silu");
  write_both(unbiased, folder, "silu_unbiased");
  Table even = fewbit::test::make_table("tanh", Form::levels, {0.4, 0.9, 1.7}, {3, 2, 1, 0},
                                        {0.02, 0.3, 0.6, 0.95});
  even.symmetry = fewbit::solver::Symmetry::even;
  write_both(even, folder, "tanh_even");
  write_both(fewbit::test::make_table("elu:alpha=0.5", Form::levels, {-1.0, 0.0}, {0, 1, 2},
                                      {0.1, 0.3, 1.0}),
             folder, "elu_half");
  Table own = fewbit::test::ladder(2, Form::levels);
  own.problem.function = fewbit::solver::custom_function("own_bump", "sin(2*tanh(x))*atan(x)");
  write_both(own, folder, "own_bump");
}

void write_own(const std::string& folder, const std::string& name, const char* expression) {
  Table table = fewbit::test::ladder(2, Form::levels);
  table.problem.function = fewbit::solver::custom_function(name, expression);
  const auto files = fewbit::codegen::generate_torch(table);
  fewbit::write_text_file(folder + "/own/" + name + ".hpp", files.at(name + "/" + name + ".hpp"));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) return 2;
    write_all(argv[1]);
#define WRITE_OWN(name, expression, has_limits) write_own(argv[1], #name, expression);
    FEWBIT_OWN_FUNCTIONS(WRITE_OWN)
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "emit_fixture: error: %s\n", error.what());
    return 1;
  }
}

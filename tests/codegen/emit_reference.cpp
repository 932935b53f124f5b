// emit_reference FOLDER: what the emitted C++ headers make of many inputs, as raw arrays that the
// tests of the emitted Python read. For each table and set of inputs NAME.SET.x, .y (float) and
// .codes; for each function of the registry NAME.x, .slope (float), .value (double).
#include <bit>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "emitted/elu_half.hpp"
#include "emitted/gelu_b1.hpp"
#include "emitted/gelu_b2.hpp"
#include "emitted/gelu_b3.hpp"
#include "emitted/gelu_b4.hpp"
#include "emitted/gelu_b5.hpp"
#include "emitted/gelu_b6.hpp"
#include "emitted/gelu_b7.hpp"
#include "emitted/gelu_b8.hpp"
#include "emitted/gelu_l17.hpp"
#include "emitted/gelu_l18.hpp"
#include "emitted/gelu_repeats.hpp"
#include "emitted/relu_constant.hpp"
#include "emitted/silu_edges.hpp"
#include "emitted/tanh_even.hpp"
#include "expression/evaluate.hpp"
#include "fixtures.hpp"
#include "generated/functions.hpp"
#include "tests/codegen/element_types.hpp"
#include "tests/support/at_float.hpp"

namespace fewbit {

namespace {

template <class T>
void write_array(const std::string& path, const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  write_text_file(path, std::string(bytes, values.size() * sizeof(T)));
}

template <class T>
std::vector<float> floats_of() {
  std::vector<float> values;
  for (const T value : test::all_values<T>()) values.push_back(static_cast<float>(value));
  return values;
}

/// Floats at a stride, and those around the thresholds.
std::vector<float> spread_floats(const solver::Table& table) {
  std::vector<float> values;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 60013) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (const double threshold : table.thresholds) {
    for (const double side : {-1.0, 1.0}) {
      const auto t = static_cast<float>(side * threshold);
      for (const float x : {t, std::nextafter(t, -INFINITY), std::nextafter(t, INFINITY)}) {
        values.push_back(x);
      }
    }
  }
  return values;
}

struct Header {
  const char* name;
  size_t (*code_bytes)(size_t);
  void (*forward)(const float*, float*, uint8_t*, size_t);
};

#define HEADER(name)                                         \
  Header {                                                   \
#name, emitted::name::code_bytes, emitted::name::forward \
  }
const Header kHeaders[] = {HEADER(gelu_b1),      HEADER(gelu_b2),    HEADER(gelu_b3),
                           HEADER(gelu_b4),      HEADER(gelu_b5),    HEADER(gelu_b6),
                           HEADER(gelu_b7),      HEADER(gelu_b8),    HEADER(gelu_l17),
                           HEADER(gelu_l18),     HEADER(tanh_even),  HEADER(elu_half),
                           HEADER(gelu_repeats), HEADER(silu_edges), HEADER(relu_constant)};

void write_set(const Header& header, const std::string& stem, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  std::vector<uint8_t> codes(header.code_bytes(x.size()));
  header.forward(x.data(), y.data(), codes.data(), x.size());
  write_array(stem + ".x", x);
  write_array(stem + ".y", y);
  write_array(stem + ".codes", codes);
}

void write_function(const std::string& stem, const std::string& name, float (*slope)(float)) {
  const solver::Expression f = solver::expression_of(solver::parse_function(name));
  std::vector<double> values;
  std::vector<float> slopes;
  const std::vector<float> inputs = floats_of<test::BFloat16>();
  for (const float x : inputs) {
    values.push_back(f.evaluate(static_cast<double>(x)));
    slopes.push_back(slope(x));
  }
  write_array(stem + ".x", inputs);
  write_array(stem + ".value", values);
  write_array(stem + ".slope", slopes);
}

void write_all(const std::string& folder) {
  for (const Header& header : kHeaders) {
    const std::string stem = folder + "/" + header.name;
    write_set(header, stem + ".float16", floats_of<test::Float16>());
    write_set(header, stem + ".bfloat16", floats_of<test::BFloat16>());
    write_set(header, stem + ".float32", spread_floats(test::emitted_table(header.name)));
  }
#define FEWBIT_FUNCTION(name, ...)                                                     \
  write_function(folder + "/functions/" #name, #name, [](float x) {                    \
    return test::at_float<&generated::name::derivative>(x __VA_OPT__(, ) __VA_ARGS__); \
  });
#include "generated/registry.inc"
}

}  // namespace

}  // namespace fewbit

int main(int argc, char** argv) {
  try {
    if (argc != 2) return 2;
    fewbit::write_all(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "emit_reference: error: %s\n", error.what());
    return 1;
  }
}

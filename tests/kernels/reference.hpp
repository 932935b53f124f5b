#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "generated/functions.hpp"
#include "kernels/activation/step_view.hpp"
#include "kernels/half.hpp"
#include "kernels/stream/code_stream.hpp"

/// Tables, inputs, and the definition of what kernels do with them, for any device.
namespace fewbit::kernels {

struct NamedTable {
  const char* function;
  const generated::StepTable* table;
};

/// Every table of the registry.
inline const std::vector<NamedTable>& all_tables() {
#define FEWBIT_TABLE(function, table) {#function, &generated::function::tables::table},
  static const std::vector<NamedTable> tables = {
#include "generated/registry.inc"
  };
  return tables;
}

inline StepView view_of(const generated::StepTable& table) {
  return {table.bits,  table.even,        table.threshold_count, table.thresholds,
          table.codes, table.level_count, table.levels};
}

/// A table of its own arrays: `thresholds` random floats, codes and levels random.
struct SyntheticTable {
  std::vector<float> thresholds;
  std::vector<uint8_t> codes;
  std::vector<float> levels;
  int bits;
  bool even = false;
  int nan_code = -1;

  SyntheticTable(int code_bits, int threshold_count, uint32_t seed) : bits(code_bits) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0.0f, 2.0f);
    for (int i = 0; i < threshold_count; ++i) thresholds.push_back(normal(random));
    std::sort(thresholds.begin(), thresholds.end());
    for (int i = 0; i <= threshold_count; ++i) {
      codes.push_back(static_cast<uint8_t>(random() % (1u << bits)));
    }
    for (int i = 0; i < 1 << bits; ++i) levels.push_back(normal(random));
    std::sort(levels.begin(), levels.end());
  }

  StepView view() const {
    return {bits,
            even,
            static_cast<int>(thresholds.size()),
            thresholds.data(),
            codes.data(),
            static_cast<int>(levels.size()),
            levels.data(),
            nan_code};
  }
};

/// The definition, one element at a time, in double.
inline uint8_t reference_code(const StepView& steps, double x) {
  if (std::isnan(x) && steps.nan_code >= 0) return static_cast<uint8_t>(steps.nan_code);
  const double compared = steps.even ? std::fabs(x) : x;
  int passed = 0;
  for (int i = 0; i < steps.threshold_count; ++i) {
    passed += compared > (steps.wide_thresholds ? steps.wide_thresholds[i]
                                                : static_cast<double>(steps.thresholds[i]));
  }
  return steps.codes[passed];
}

/// Code i of a stream, bit by bit.
inline uint8_t code_at(const std::vector<uint8_t>& stream, int bits, int64_t i) {
  int code = 0;
  for (int bit = 0; bit < bits; ++bit) {
    const int64_t position = i * bits + bit;
    code |= (stream[static_cast<size_t>(position / 8)] >> position % 8 & 1) << bit;
  }
  return static_cast<uint8_t>(code);
}

inline std::vector<uint8_t> reference_stream(const StepView& steps, const std::vector<double>& x) {
  const auto count = static_cast<int64_t>(x.size());
  std::vector<uint8_t> stream(static_cast<size_t>(code_bytes(count, steps.bits)), 0);
  for (int64_t i = 0; i < count; ++i) {
    const int code = reference_code(steps, x[static_cast<size_t>(i)]);
    for (int bit = 0; bit < steps.bits; ++bit) {
      const int64_t position = i * steps.bits + bit;
      stream[static_cast<size_t>(position / 8)] |=
          static_cast<uint8_t>((code >> bit & 1) << position % 8);
    }
  }
  return stream;
}

/// Bytes of elements of a type, and back.
inline double element(const std::vector<uint8_t>& bytes, ElementType type, int64_t i) {
  const uint8_t* at = bytes.data() + i * element_bytes(type);
  if (type == ElementType::f64) {
    double x = 0.0;
    std::memcpy(&x, at, 8);
    return x;
  }
  if (type == ElementType::f32) {
    float x = 0.0f;
    std::memcpy(&x, at, 4);
    return static_cast<double>(x);
  }
  uint16_t half = 0;
  std::memcpy(&half, at, 2);
  return static_cast<double>(float_from_half(type, half));
}

inline std::vector<uint8_t> bytes_of(const std::vector<double>& values, ElementType type) {
  std::vector<uint8_t> bytes(values.size() * static_cast<size_t>(element_bytes(type)));
  for (size_t i = 0; i < values.size(); ++i) {
    uint8_t* at = bytes.data() + i * static_cast<size_t>(element_bytes(type));
    const float x = static_cast<float>(values[i]);
    const uint16_t half = half_from_float(type, x);
    if (type == ElementType::f64) std::memcpy(at, &values[i], 8);
    if (type == ElementType::f32) std::memcpy(at, &x, 4);
    if (element_bytes(type) == 2) std::memcpy(at, &half, 2);
  }
  return bytes;
}

inline std::vector<double> elements(const std::vector<uint8_t>& bytes, ElementType type) {
  std::vector<double> values(bytes.size() / static_cast<size_t>(element_bytes(type)));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = element(bytes, type, static_cast<int64_t>(i));
  }
  return values;
}

inline std::vector<double> normal_inputs(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0.0, 2.0);
  std::vector<double> x(static_cast<size_t>(count));
  for (double& value : x) value = normal(random);
  return x;
}

inline std::string type_name(ElementType type) {
  const char* const names[] = {"f32", "bf16", "f16", "f64"};
  return names[static_cast<int>(type)];
}

}  // namespace fewbit::kernels

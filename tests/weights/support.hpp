#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "weights/samples.hpp"
#include "weights/weight.hpp"

namespace fewbit::solver {

/// What() of the Error that `action` throws, "no error" where it throws none.
template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline WeightSpec pair_spec(const std::string& kind, NamedValue first, NamedValue second) {
  WeightSpec spec;
  spec.kind = kind;
  spec.parameters = {std::move(first), std::move(second)};
  return spec;
}

inline WeightSpec normal_spec(double mean, double sigma) {
  return pair_spec("normal", {"mean", mean}, {"sigma", sigma});
}

inline WeightSpec mixture_spec(double low, double high) {
  return pair_spec("mixture", {"sigma_min", low}, {"sigma_max", high});
}

inline WeightSpec student_t_spec(double mean, double scale, double degrees) {
  WeightSpec spec = pair_spec("student-t", {"mean", mean}, {"scale", scale});
  spec.parameters.emplace_back("degrees", degrees);
  return spec;
}

inline WeightSpec histogram_spec(std::vector<double> edges, std::vector<double> masses) {
  WeightSpec spec;
  spec.kind = "histogram";
  spec.edges = std::move(edges);
  spec.masses = std::move(masses);
  return spec;
}

inline std::string write_temporary(const std::string& name, const std::string& content) {
  std::string path = testing::TempDir() + "fewbit_weights_" + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

/// The values' bytes, least first.
template <class Value, class Bits = std::conditional_t<sizeof(Value) == 4, uint32_t, uint64_t>>
std::string little_endian_bytes(const std::vector<Value>& values) {
  std::string bytes;
  for (const Value value : values) {
    Bits bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    for (size_t i = 0; i < sizeof(bits); ++i) bytes.push_back(static_cast<char>(bits >> (8 * i)));
  }
  return bytes;
}

/// A .npy file of version 1.0 (2.0 and 3.0 count the header in four bytes).
inline std::string npy_text(const std::string& dictionary, const std::string& data,
                            char version = 1) {
  std::string text = "\x93NUMPY";
  text += version;
  text += '\0';
  const size_t length = dictionary.size() + 1;
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    text.push_back(static_cast<char>(length >> (8 * i)));
  }
  return text + dictionary + "\n" + data;
}

inline std::string npy_dictionary(const std::string& type, const std::string& shape,
                                  bool fortran = false) {
  return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

inline constexpr SampleFormat kNpy = {SampleFormat::Kind::npy, {}};
inline constexpr SampleFormat kCsv = {SampleFormat::Kind::csv, {}};
inline constexpr SampleFormat kRaw = {SampleFormat::Kind::raw, {}};

/// What a file of this text is fitted as.
inline FittedSamples fit_text(const SampleFormat& format, const std::string& text,
                              double clip = 1.0) {
  std::istringstream in(text);
  Samples samples(in, format, "data");
  return fit_samples(samples, clip);
}

inline WeightSpec read_text(const SampleFormat& format, const std::string& text) {
  return fit_text(format, text).weight;
}

inline WeightSpec read_file(const std::string& path) {
  Samples samples({path});
  return fit_samples(samples).weight;
}

}  // namespace fewbit::solver

#pragma once

#include <cmath>

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include "fewbit/fewbit.hpp"
#include "ops/activation.hpp"

namespace fewbit::test {

/// The code of element i of a stream, bit by bit.
inline int code_at(const at::Tensor& stream, int64_t i, int bits) {
  const auto* bytes = stream.const_data_ptr<uint8_t>();
  int code = 0;
  for (int64_t bit = i * bits; bit < (i + 1) * bits; ++bit) {
    const int value = bytes[bit / 8] >> (bit % 8) & 1;
    code |= value << (bit - i * bits);
  }
  return code;
}

/// The level that the table gives x, by its definition.
inline float level_of(const Table& table, float x) {
  const TableData& data = table.data();
  const float position = data.even ? std::abs(x) : x;
  size_t interval = 0;
  for (const float threshold : data.thresholds) interval += position > threshold;
  return data.levels[data.interval_codes[interval]];
}

inline std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x, const Table& table) {
  return ops::activation_forward(x, ops::arguments_of(table, x.scalar_type()));
}

inline at::Tensor backward(const at::Tensor& dy, const at::Tensor& codes, const Table& table) {
  return ops::activation_backward(dy, codes, table.steps(dy.scalar_type()).levels);
}

inline at::Tensor activation_by_name(const at::Tensor& x, c10::string_view function,
                                     c10::string_view table) {
  using Signature = at::Tensor(const at::Tensor&, c10::string_view, c10::string_view,
                               const std::optional<at::Tensor>&);
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow("fewbit::activation", "builtin")
      .typed<Signature>()
      .call(x, function, table, {});
}

}  // namespace fewbit::test

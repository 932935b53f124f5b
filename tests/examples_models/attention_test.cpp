// Attention, rotary places, RMS norm and SwiGLU against sums in plain loops, in double precision.
#include <cmath>
#include <complex>
#include <functional>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "examples/models/bert.hpp"
#include "examples/models/gpt.hpp"
#include "examples/models/vit.hpp"

namespace fewbit::examples::attention_test {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

constexpr int64_t kLength = 7, kWidth = 24, kHeads = 3;
constexpr size_t kSize = kWidth / kHeads;

at::Tensor sequence() {
  at::manual_seed(5);
  return at::randn({1, kLength, kWidth}, at::kDouble);
}

Rows rows_of(const at::Tensor& matrix) {
  Rows rows;
  for (int64_t i = 0; i < matrix.size(0); ++i) {
    const at::Tensor row = matrix[i].contiguous();
    rows.emplace_back(row.const_data_ptr<double>(), row.const_data_ptr<double>() + row.numel());
  }
  return rows;
}

void expect_near(const at::Tensor& one, const Rows& wanted) {
  const Rows rows = rows_of(one[0]);
  ASSERT_EQ(rows.size(), wanted.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].size(), wanted[i].size());
    for (size_t j = 0; j < rows[i].size(); ++j) {
      ASSERT_NEAR(rows[i][j], wanted[i][j], 1e-12) << i << ' ' << j;
    }
  }
}

Rows linear(const Rows& x, const at::Tensor& weight, const at::Tensor& bias) {
  const Rows weights = rows_of(weight);
  Rows result;
  for (const Row& row : x) {
    Row sums;
    for (size_t o = 0; o < weights.size(); ++o) {
      double sum = bias.defined() ? bias[static_cast<int64_t>(o)].item<double>() : 0.0;
      for (size_t i = 0; i < row.size(); ++i) sum += weights[o][i] * row[i];
      sums.push_back(sum);
    }
    result.push_back(sums);
  }
  return result;
}

Rows linear(const Rows& x, const torch::nn::Linear& layer) {
  return linear(x, layer->weight, layer->bias);
}

/// Each head's channels (2i, 2i + 1) as a complex number, turned.
Rows turned(Rows x) {
  for (size_t place = 0; place < x.size(); ++place) {
    for (size_t channel = 0; channel < x[place].size(); channel += 2) {
      const double power = -static_cast<double>(channel % kSize) / kSize;
      const double angle = static_cast<double>(place) * std::pow(10000.0, power);
      const auto pair =
          std::complex(x[place][channel], x[place][channel + 1]) * std::polar(1.0, angle);
      x[place][channel] = pair.real();
      x[place][channel + 1] = pair.imag();
    }
  }
  return x;
}

/// What one place takes from the first `seen` values, by one head.
void mix(Row& result, const Row& query, const Rows& keys, const Rows& values, size_t head,
         size_t seen) {
  Row weights;
  double total = 0;
  for (size_t j = 0; j < seen; ++j) {
    double product = 0;
    for (size_t c = head * kSize; c < (head + 1) * kSize; ++c) product += query[c] * keys[j][c];
    weights.push_back(std::exp(product / std::sqrt(static_cast<double>(kSize))));
    total += weights.back();
  }
  for (size_t j = 0; j < seen; ++j) {
    for (size_t c = head * kSize; c < (head + 1) * kSize; ++c) {
      result[c] += weights[j] / total * values[j][c];
    }
  }
}

Rows attention(const Rows& queries, const Rows& keys, const Rows& values, bool causal) {
  Rows result(kLength, Row(kWidth, 0.0));
  for (size_t i = 0; i < kLength; ++i) {
    for (size_t head = 0; head < kHeads; ++head) {
      mix(result[i], queries[i], keys, values, head, causal ? i + 1 : kLength);
    }
  }
  return result;
}

Rows normed(Rows x, const at::Tensor& weight) {
  for (Row& row : x) {
    double squares = 0;
    for (const double value : row) squares += value * value;
    const double root = std::sqrt(squares / kWidth + 1e-6);
    for (size_t c = 0; c < row.size(); ++c) {
      row[c] *= weight[static_cast<int64_t>(c)].item<double>() / root;
    }
  }
  return x;
}

Rows combined(Rows one, const Rows& other, const std::function<double(double, double)>& combine) {
  for (size_t i = 0; i < one.size(); ++i) {
    for (size_t c = 0; c < one[i].size(); ++c) one[i][c] = combine(one[i][c], other[i][c]);
  }
  return one;
}

Rows reference(const GptAttention& attend, const Rows& x) {
  return linear(attention(turned(linear(x, attend->query)), turned(linear(x, attend->key)),
                          linear(x, attend->value), true),
                attend->project);
}

Rows reference(const GptBlock& block, const Rows& x) {
  const Rows attended = combined(
      x, reference(block->attention, normed(x, block->before_attention->weight)), std::plus());
  const Rows y = normed(attended, block->before_feed->weight);
  const Rows gated = combined(linear(y, block->gate), linear(y, block->up),
                              [](double g, double u) { return g / (1.0 + std::exp(-g)) * u; });
  return combined(attended, linear(gated, block->down), std::plus());
}

TEST(AttentionReference, RotaryAndCausalAttention) {
  GptAttention model(GptOptions{.width = kWidth, .heads = kHeads});
  model->to(at::kDouble);
  const at::Tensor x = sequence();
  expect_near(model(x, make_rotation(kLength, kSize, x)), reference(model, rows_of(x[0])));
}

TEST(AttentionReference, GptBlock) {
  GptBlock block(GptOptions{.width = kWidth, .heads = kHeads});
  block->to(at::kDouble);
  const at::NoGradGuard guard;
  block->before_attention->weight.uniform_(0.5, 1.5);
  block->before_feed->weight.uniform_(0.5, 1.5);
  const at::Tensor x = sequence();
  expect_near(block(x, make_rotation(kLength, kSize, x)), reference(block, rows_of(x[0])));
}

TEST(AttentionReference, Bert) {
  BertAttention model(BertOptions{.width = kWidth, .heads = kHeads});
  model->to(at::kDouble);
  const at::Tensor x = sequence();
  const Rows rows = rows_of(x[0]);
  const Rows mixed = attention(linear(rows, model->query), linear(rows, model->key),
                               linear(rows, model->value), false);
  expect_near(model(x), linear(mixed, model->project));
}

TEST(AttentionReference, Vit) {
  VitAttention model(VitOptions{.width = kWidth, .heads = kHeads});
  model->to(at::kDouble);
  const at::Tensor x = sequence();
  const auto weights = model->query_key_value->weight.chunk(3);
  const auto biases = model->query_key_value->bias.chunk(3);
  std::vector<Rows> parts;
  for (size_t i = 0; i < 3; ++i) parts.push_back(linear(rows_of(x[0]), weights[i], biases[i]));
  expect_near(model(x), linear(attention(parts[0], parts[1], parts[2], false), model->project));
}

}  // namespace fewbit::examples::attention_test

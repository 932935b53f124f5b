#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "generated/normal_quantizer.hpp"
#include "generated/trellis_quantizer.hpp"
#include "kernels/half.hpp"
#include "kernels/quantizer/group_factor.hpp"
#include "kernels/quantizer/rotated.hpp"
#include "kernels/stream/code_stream.hpp"

/// Rotated runs there and back, and the definition of rotated.hpp written out plainly.
namespace fewbit::kernels::rotated {

using Floats = std::vector<float>;

struct Kept {
  std::vector<uint8_t> codes;
  std::vector<uint8_t> constants;
  bool operator==(const Kept&) const = default;
};

inline std::vector<uint8_t> bytes_of(ElementType type, const std::vector<double>& x) {
  std::vector<uint8_t> bytes(x.size() * static_cast<size_t>(element_bytes(type)));
  for (size_t i = 0; i < x.size(); ++i) {
    const auto narrow = static_cast<float>(x[i]);
    if (type == ElementType::f64) {
      std::memcpy(&bytes[8 * i], &x[i], 8);
    } else if (type == ElementType::f32) {
      std::memcpy(&bytes[4 * i], &narrow, 4);
    } else {
      const uint16_t half = half_from_float(type, narrow);
      std::memcpy(&bytes[2 * i], &half, 2);
    }
  }
  return bytes;
}

inline std::vector<double> values_of(ElementType type, const std::vector<uint8_t>& bytes) {
  std::vector<double> x(bytes.size() / static_cast<size_t>(element_bytes(type)));
  for (size_t i = 0; i < x.size(); ++i) {
    if (type == ElementType::f64) {
      std::memcpy(&x[i], &bytes[8 * i], 8);
    } else if (type == ElementType::f32) {
      float value = 0.0f;
      std::memcpy(&value, &bytes[4 * i], 4);
      x[i] = value;
    } else {
      uint16_t half = 0;
      std::memcpy(&half, &bytes[2 * i], 2);
      x[i] = float_from_half(type, half);
    }
  }
  return x;
}

inline Kept encode(const RotatedFormat& format, const std::vector<uint8_t>& x) {
  const auto groups = static_cast<size_t>(format.groups());
  Kept kept{std::vector<uint8_t>(
                static_cast<size_t>(code_bytes(format.coded_elements(), format.bits)), 0xFF),
            std::vector<uint8_t>(groups * static_cast<size_t>(format.constant_bytes_of_group()))};
  rotated_encode(format, x.data(), kept.codes.data(), kept.constants.data(), {0, format.groups()});
  return kept;
}

inline std::vector<uint8_t> decode(const RotatedFormat& format, const Kept& kept) {
  std::vector<uint8_t> x(static_cast<size_t>(format.count * element_bytes(format.type)));
  rotated_decode(format, kept.codes.data(), kept.constants.data(), x.data(), {0, format.groups()});
  return x;
}

inline std::vector<double> there_and_back(const RotatedFormat& format,
                                          const std::vector<double>& x) {
  return values_of(format.type, decode(format, encode(format, bytes_of(format.type, x))));
}

inline std::vector<double> normal(int64_t count, uint32_t seed, double sigma = 1.0,
                                  double mean = 0.0) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> draw(mean, sigma);
  std::vector<double> x(static_cast<size_t>(count));
  for (double& value : x) value = draw(engine);
  return x;
}

inline double energy(const std::vector<double>& x) {
  double sum = 0.0;
  for (const double value : x) sum += value * value;
  return sum;
}

inline double squared_distance(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0.0;
  for (size_t i = 0; i < x.size(); ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sum;
}

/// The squared mean over the mean square of errors, over so many draws of the signs.
inline double bias_of(RotatedFormat format, const std::vector<double>& x, int draws) {
  std::vector<double> sum(x.size(), 0.0);
  double noise = 0.0;
  for (int draw = 0; draw < draws; ++draw) {
    format.signs.offset = static_cast<uint64_t>(draw);
    const auto back = there_and_back(format, x);
    for (size_t i = 0; i < x.size(); ++i) sum[i] += (back[i] - x[i]) / draws;
    noise += squared_distance(x, back) / draws;
  }
  return energy(sum) / noise;
}

/// The definition, one group of floats.
namespace reference {

inline float sum(Floats x) {
  for (size_t half = x.size() / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) x[i] += x[i + half];
  }
  return x[0];
}

inline void hadamard(Floats& x) {
  for (size_t distance = x.size() / 2; distance > 0; distance /= 2) {
    for (size_t i = 0; i < x.size(); ++i) {
      if ((i & distance) != 0) continue;
      const float low = x[i], high = x[i + distance];
      x[i] = low + high;
      x[i + distance] = low - high;
    }
  }
}

inline bool is_minus(const RotatedFormat& format, int64_t element) {
  const auto place = static_cast<uint64_t>(element);
  const PhiloxWords words = philox(place / 128, format.signs.offset, format.signs.seed);
  return (words.word[place / 32 % 4] >> place % 32 & 1u) != 0;
}

inline void turn(const RotatedFormat& format, int64_t index, Floats& x) {
  for (size_t i = 0; i < x.size(); ++i) {
    if (is_minus(format, index * format.group + static_cast<int64_t>(i))) x[i] = -x[i];
  }
}

/// As it is kept, as the signs of the group's first 64 elements say.
inline float rounded_factor(const RotatedFormat& format, int64_t index, float factor) {
  uint32_t words[2] = {};
  for (int64_t e = 0; e < 64; ++e) {
    if (is_minus(format, index * format.group + e)) words[e / 32] |= 1u << e % 32;
  }
  return kept_factor(factor_at_random(factor, word_of_signs(words[0], words[1])));
}

struct Group {
  std::vector<int> codes;
  float mean, factor;
};

inline std::vector<int> nearest_codes(const RotatedFormat& format, const Floats& u) {
  const generated::NormalQuantizer& table = generated::normal_quantizer(format.bits);
  const int half = 1 << (format.bits - 1);
  std::vector<int> codes;
  for (const float x : u) {
    int place = 0;
    while (place < half - 1 && std::fabs(x) > table.thresholds[place]) ++place;
    codes.push_back(std::signbit(x) ? half - 1 - place : half + place);
  }
  return codes;
}

/// `window`: the bits of an element and those before it, its own lowest.
inline int subset_of(int states, int window) {
  const auto bit = [&](int before) { return window >> before & 1; };
  return states == 4 ? bit(1) + 2 * (bit(0) ^ bit(2)) : bit(2) + 2 * (bit(0) ^ bit(1) ^ bit(3));
}

/// The best code of u within a subset, its lowest bit left out, and what it costs: half its square
/// minus u times it.
struct InSubset {
  int place;
  float cost;
};

inline InSubset in_subset(const RotatedFormat& format, float u, int subset) {
  const float* levels = generated::trellis_quantizer(format.bits, format.states).levels;
  const int count = 1 << (format.bits - 1);
  InSubset best{0, std::numeric_limits<float>::infinity()};
  for (int k = 0; k < count; ++k) {
    const float level = levels[4 * k + subset];
    best.cost = std::min(best.cost, 0.5f * (level * level) - u * level);
    if (k > 0 && u > 0.5f * (levels[4 * k + subset - 4] + level)) best.place = k;
  }
  return best;
}

/// Viterbi's algorithm.
inline std::vector<int> best_codes(const RotatedFormat& format, const Floats& u) {
  const int states = format.states;
  std::vector<Floats> cost{Floats(static_cast<size_t>(states), 1e30f)};
  cost[0][0] = 0.0f;
  std::vector<std::vector<int>> before;
  for (const float x : u) {
    Floats next;
    std::vector<int> from;
    for (int to = 0; to < states; ++to) {
      float least = 0.0f;
      for (const int state : {to / 2, to / 2 + states / 2}) {
        const int subset = subset_of(states, state * 2 + to % 2);
        const float sum =
            cost.back()[static_cast<size_t>(state)] + in_subset(format, x, subset).cost;
        const bool is_first = state < states / 2;
        if (is_first) from.push_back(state);
        if (!is_first && sum < least) from.back() = state;
        least = is_first ? sum : std::min(least, sum);
      }
      next.push_back(least);
    }
    cost.push_back(next);
    before.push_back(from);
  }
  int state = static_cast<int>(std::ranges::min_element(cost.back()) - cost.back().begin());
  std::vector<int> codes(u.size());
  for (size_t t = u.size(); t-- > 0;) {
    const int from = before[t][static_cast<size_t>(state)];
    const int subset = subset_of(states, from * 2 + state % 2);
    codes[t] = in_subset(format, u[t], subset).place * 2 + state % 2;
    state = from;
  }
  return codes;
}

inline Floats levels_of(const RotatedFormat& format, const std::vector<int>& codes) {
  Floats levels;
  const int half = 1 << (format.bits - 1);
  int window = 0;
  for (const int code : codes) {
    if (format.states == 0) {
      const float* sizes = generated::normal_quantizer(format.bits).levels;
      levels.push_back(code < half ? -sizes[half - 1 - code] : sizes[code - half]);
    } else {
      window = window << 1 | (code & 1);
      const float* all = generated::trellis_quantizer(format.bits, format.states).levels;
      levels.push_back(all[code / 2 * 4 + subset_of(format.states, window)]);
    }
  }
  return levels;
}

inline Group encode(const RotatedFormat& format, int64_t index, Floats x, int64_t count) {
  x.resize(static_cast<size_t>(format.group), 0.0f);
  Group result;
  result.mean = float_from_bf16(bf16_from_float(sum(x) / static_cast<float>(count)));
  Floats squares;
  for (size_t i = 0; i < x.size(); ++i) {
    const float rest = static_cast<int64_t>(i) < count ? x[i] - result.mean : 0.0f;
    squares.push_back(rest * rest);
    x[i] = rest;
  }
  for (int round = 0; round < 2; ++round) {
    turn(format, index, x);
    hadamard(x);
  }
  const auto elements = static_cast<float>(format.group);
  const float root = std::sqrt(sum(squares)) * std::sqrt(elements);
  const bool is_constant = root == 0.0f;
  const float inverse = is_constant ? 0.0f : 1.0f / root;
  for (float& y : x) y *= inverse;
  result.codes = format.states == 0 ? nearest_codes(format, x) : best_codes(format, x);
  Floats products = levels_of(format, result.codes);
  for (size_t i = 0; i < x.size(); ++i) products[i] *= x[i];
  result.factor = is_constant ? 0.0f : rounded_factor(format, index, root / sum(products));
  return result;
}

inline Floats decode(const RotatedFormat& format, int64_t index, const Group& group) {
  Floats x = levels_of(format, group.codes);
  hadamard(x);
  turn(format, index, x);
  for (float& value : x) value /= static_cast<float>(format.group);
  hadamard(x);
  turn(format, index, x);
  for (float& value : x) value = group.mean + group.factor * value;
  return x;
}

}  // namespace reference

inline int code_at(const std::vector<uint8_t>& stream, int64_t i, int bits) {
  int code = 0;
  for (int k = 0; k < bits; ++k) {
    const int64_t bit = i * bits + k;
    code |= (stream[static_cast<size_t>(bit / 8)] >> bit % 8 & 1) << k;
  }
  return code;
}

inline void expect_as_reference(const RotatedFormat& format, const std::vector<double>& x) {
  const std::vector<uint8_t> bytes = bytes_of(format.type, x);
  const std::vector<double> given = values_of(format.type, bytes);
  const Kept kept = encode(format, bytes);
  const std::vector<double> decoded = values_of(format.type, decode(format, kept));
  for (int64_t index = 0; index < format.groups(); ++index) {
    const int64_t first = index * format.group;
    const int64_t count = std::min(format.group, format.count - first);
    const auto begin = given.begin() + first;
    const auto group = reference::encode(format, index, Floats(begin, begin + count), count);
    for (int64_t i = format.coded_elements() * format.bits / 8;
         i < static_cast<int64_t>(kept.codes.size()); ++i) {
      ASSERT_EQ(kept.codes[static_cast<size_t>(i)], 0) << "after the last code";
    }
    for (int64_t i = 0; i < format.group; ++i) {
      ASSERT_EQ(code_at(kept.codes, first + i, format.bits), group.codes[static_cast<size_t>(i)])
          << "group " << index << ", element " << i;
    }
    const Floats back = reference::decode(format, index, group);
    for (int64_t i = 0; i < count; ++i) {
      const auto bits = bytes_of(format.type, {back[static_cast<size_t>(i)]});
      ASSERT_EQ(decoded[static_cast<size_t>(first + i)], values_of(format.type, bits)[0])
          << "group " << index << ", element " << i;
    }
  }
}

}  // namespace fewbit::kernels::rotated

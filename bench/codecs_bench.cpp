// Codecs of saved tensors against a non-temporal copy of the same bytes (elements read or written,
// codes and constants), measured in turn on as many threads: `of_copy` is the copy's best time
// divided by the pass's best time, ns the pass's best time per element. Names:
// pass/codec/type/bits/threads; elements in units of 1024 by FEWBIT_BENCH_KI (default 16384), in
// groups of 256. low_rank_4: with 4 directions of 512 channels, coefficients and all.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/google_cases.hpp"
#include "bench/measure.hpp"
#include "bench/stream_copy.hpp"
#include "kernels/half.hpp"
#include "kernels/quantizer/group.hpp"
#include "kernels/quantizer/rotated.hpp"

namespace fewbit::kernels {

namespace {

constexpr int64_t kGroup = 256;
constexpr PhiloxState kRandom = {1, 2};

int64_t element_count() {
  const char* thousands = std::getenv("FEWBIT_BENCH_KI");
  return (thousands ? std::atoll(thousands) : 16384) << 10;
}

struct Buffers {
  int64_t count = element_count();
  bench::Buffer x{count * 4};
  bench::Buffer y{count * 5};
  bench::Buffer codes{count + 64};
  bench::Buffer constants{count / kGroup * 4};
};

Buffers& buffers() {
  static Buffers all;
  return all;
}

void fill_normal(ElementType type, Buffers& all) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> sample(1 << 16);
  for (float& x : sample) x = normal(random);
  for (int64_t i = 0; i < all.count; ++i) {
    const float x = sample[static_cast<size_t>(i * 7 & 0xFFFF)];
    const uint16_t half = half_from_float(type, x);
    uint8_t* at = all.x.data() + i * element_bytes(type);
    if (type == ElementType::f32) std::memcpy(at, &x, 4);
    if (element_bytes(type) == 2) std::memcpy(at, &half, 2);
  }
}

/// Equal shares of [0, count), in multiples of `unit`, on threads of their own.
void share(int64_t count, int64_t unit, int threads,
           const std::function<void(int64_t begin, int64_t end)>& work) {
  const int64_t part = (count / unit + threads - 1) / threads * unit;
  std::vector<std::thread> running;
  for (int64_t begin = part; begin < count; begin += part) {
    running.emplace_back([&, begin] { work(begin, std::min(begin + part, count)); });
  }
  work(0, std::min(part, count));
  for (std::thread& thread : running) thread.join();
}

/// Elements [begin, end), multiples of 1024.
using Pass = std::function<void(Buffers& all, int64_t begin, int64_t end)>;

void compare(benchmark::State& state, ElementType type, int bits, int threads, const Pass& pass) {
  Buffers& all = buffers();
  fill_normal(type, all);
  // A copy reads and writes, so half of what a pass moves.
  const int64_t moved =
      all.count * element_bytes(type) + all.count / 8 * bits + all.count / kGroup * 4;
  const int64_t copied = moved / 2 / 64 * 64;
  const auto run = [&] {
    share(all.count, 1024, threads, [&](int64_t begin, int64_t end) { pass(all, begin, end); });
  };
  const auto copy = [&] {
    share(copied, 64, threads, [&](int64_t begin, int64_t end) {
      bench::stream_copy(all.x.data() + begin, all.y.data() + begin, end - begin);
    });
  };
  double best_pass = 1e9, best_copy = 1e9;
  run();
  for (auto _ : state) {
    const double seconds = bench::seconds_of(run);
    state.SetIterationTime(seconds);
    best_pass = std::min(best_pass, seconds);
    best_copy = std::min(best_copy, bench::seconds_of(copy));
  }
  state.counters["ns"] = 1e9 * best_pass / static_cast<double>(all.count);
  state.counters["of_copy"] = best_copy / best_pass;
}

struct Codec {
  std::string name;
  Pass encode;
  Pass decode;
};

Codec rotated(ElementType type, int bits, int states) {
  const RotatedFormat format{type, bits, kGroup, element_count(), kRandom, states};
  return {states == 0 ? "rotated" : "trellis_" + std::to_string(states),
          [format](Buffers& all, int64_t begin, int64_t end) {
            rotated_encode(format, all.x.data(), all.codes.data(), all.constants.data(),
                           {begin / kGroup, end / kGroup});
          },
          [format](Buffers& all, int64_t begin, int64_t end) {
            rotated_decode(format, all.codes.data(), all.constants.data(), all.y.data(),
                           {begin / kGroup, end / kGroup});
          }};
}

Codec grouped(ElementType type, int bits, Rounding rounding, std::string name) {
  const GroupFormat format{type, bits, kGroup, rounding, kRandom};
  return {std::move(name),
          [format](Buffers& all, int64_t begin, int64_t end) {
            group_encode(format, all.x.data(), all.codes.data(), all.constants.data(),
                         {begin, end, all.count});
          },
          [format](Buffers& all, int64_t begin, int64_t end) {
            group_decode(format, all.codes.data(), all.constants.data(), all.y.data(),
                         {begin, end, all.count});
          }};
}

/// Tokens of 512 channels and so many directions of them, coefficients in 4 bits.
class LowRankPass {
 public:
  LowRankPass(ElementType type, int bits, int count)
      : format_{type, bits, kGroup, element_count(), kRandom}, count_(count) {
    basis_.resize(static_cast<size_t>(count * kChannels), 0.05f);
    coefficients_.resize(static_cast<size_t>(coefficients(format_.count)));
    codes_.resize(coefficients_.size() + 64);
    constants_.resize(coefficients_.size());
  }

  void encode(Buffers& all, int64_t begin, int64_t end) {
    const LowRank low_rank{directions(), coefficients_.data()};
    RotatedFormat format = format_;
    format.low_rank = &low_rank;
    for_units(begin, end, [&](int64_t from, int64_t to) {
      low_rank_project(format_.type, all.x.data(), directions(), coefficients_.data(),
                       from / kChannels, to / kChannels);
      const GroupRange there = groups_there(from, to);
      rotated_encode(coefficients_form(), coefficients_.data(), codes_.data(), constants_.data(),
                     there);
      rotated_decode(coefficients_form(), codes_.data(), constants_.data(), coefficients_.data(),
                     there);
      rotated_encode(format, all.x.data(), all.codes.data(), all.constants.data(),
                     {from / kGroup, to / kGroup});
    });
  }

  void decode(Buffers& all, int64_t begin, int64_t end) {
    const LowRank low_rank{directions(), coefficients_.data()};
    RotatedFormat format = format_;
    format.low_rank = &low_rank;
    for_units(begin, end, [&](int64_t from, int64_t to) {
      rotated_decode(coefficients_form(), codes_.data(), constants_.data(), coefficients_.data(),
                     groups_there(from, to));
      rotated_decode(format, all.codes.data(), all.constants.data(), all.y.data(),
                     {from / kGroup, to / kGroup});
    });
  }

 private:
  static constexpr int64_t kChannels = 512;

  /// In units that stay in the cache, of whole groups of coefficients (ops/rotated_low_rank.cpp).
  template <class Visit>
  static void for_units(int64_t begin, int64_t end, const Visit& visit) {
    constexpr int64_t kUnit = kChannels * kGroup;
    for (int64_t from = begin; from < end; from += kUnit) visit(from, std::min(end, from + kUnit));
  }
  int64_t coefficients(int64_t elements) const { return elements / kChannels * count_; }
  Directions directions() const { return {{kChannels, 1}, count_, kChannels, basis_.data()}; }
  RotatedFormat coefficients_form() const {
    return {ElementType::f32, 4, kGroup, coefficients(format_.count), kRandom};
  }
  GroupRange groups_there(int64_t begin, int64_t end) const {
    return {coefficients(begin) / kGroup, (coefficients(end) + kGroup - 1) / kGroup};
  }

  RotatedFormat format_;
  int count_;
  std::vector<float> basis_, coefficients_;
  std::vector<uint8_t> codes_, constants_;
};

Codec low_rank(ElementType type, int bits, int count) {
  const auto pass = std::make_shared<LowRankPass>(type, bits, count);
  return {"low_rank_" + std::to_string(count),
          [pass](Buffers& all, int64_t begin, int64_t end) { pass->encode(all, begin, end); },
          [pass](Buffers& all, int64_t begin, int64_t end) { pass->decode(all, begin, end); }};
}

void add(const Codec& codec, const std::string& type_name, ElementType type, int bits) {
  for (const int threads : {1, 2}) {
    const std::string tail = '/' + codec.name + '/' + type_name + '/' + std::to_string(bits) + '/' +
                             std::to_string(threads);
    for (const auto& [name, pass] : {std::pair("encode", codec.encode), {"decode", codec.decode}}) {
      benchmark::RegisterBenchmark(
          (name + tail).c_str(),
          [=, work = pass](benchmark::State& state) { compare(state, type, bits, threads, work); })
          ->UseManualTime()
          ->Iterations(7)
          ->Unit(benchmark::kMillisecond);
    }
  }
}

void add_all() {
  const std::pair<const char*, ElementType> types[] = {
      {"f32", ElementType::f32}, {"bf16", ElementType::bf16}, {"f16", ElementType::f16}};
  for (const auto& [name, type] : types) {
    for (const int bits : {1, 2, 3, 4, 8}) {
      for (const int states : {0, 4, 8}) {
        if (bits <= 4 || states == 0) add(rotated(type, bits, states), name, type, bits);
      }
      for (const int directions : {1, 4, 16}) {
        if (bits <= 4) add(low_rank(type, bits, directions), name, type, bits);
      }
      add(grouped(type, bits, Rounding::nearest, "group_nearest"), name, type, bits);
      add(grouped(type, bits, Rounding::stochastic, "group_stochastic"), name, type, bits);
    }
  }
}

}  // namespace

}  // namespace fewbit::kernels

void fewbit::bench::register_cases() {
  fewbit::kernels::add_all();
}

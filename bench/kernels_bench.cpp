// The CPU kernels on one core against a non-temporal copy of the same bytes, measured in turn:
// `of_copy` is the copy's best time divided by the pass's best time, ns the pass's best time per
// element. Names: pass/function/type/bits, elements in units of 1024 by FEWBIT_BENCH_KI (default
// 16384).
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/google_cases.hpp"
#include "bench/stream_copy.hpp"
#include "generated/functions.hpp"
#include "kernels/activation/activation.hpp"
#include "kernels/activation/cpu/function_kernels.hpp"
#include "kernels/half.hpp"

namespace fewbit::kernels {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int64_t element_count() {
  const char* thousands = std::getenv("FEWBIT_BENCH_KI");
  return (thousands ? std::atoll(thousands) : 16384) << 10;
}

/// The copy moves half of x, y and codes together from x to y.
struct Buffers {
  int64_t count = element_count();
  bench::Buffer x{count * 8 + count / 2};
  bench::Buffer y{count * 8 + count / 2};
  bench::Buffer codes{count};
};

Buffers& buffers() {
  static Buffers all;
  return all;
}

void fill_normal(ElementType type, Buffers& all) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0.0f, 1.5f);
  std::vector<float> sample(1 << 16);
  for (float& x : sample) x = normal(random);
  for (int64_t i = 0; i < all.count; ++i) {
    const float x = sample[static_cast<size_t>(i * 7 & 0xFFFF)];
    const double wide = static_cast<double>(x);
    const uint16_t half = half_from_float(type, x);
    uint8_t* at = all.x.data() + i * element_bytes(type);
    if (type == ElementType::f64) std::memcpy(at, &wide, 8);
    if (type == ElementType::f32) std::memcpy(at, &x, 4);
    if (element_bytes(type) == 2) std::memcpy(at, &half, 2);
  }
}

/// Times `pass` and a copy of its traffic in turn.
template <class Pass>
void compare(benchmark::State& state, ElementType type, int bits, const Pass& pass) {
  Buffers& all = buffers();
  fill_normal(type, all);
  const int64_t traffic = 2 * all.count * element_bytes(type) + code_bytes(all.count, bits);
  double best_pass = 1e9;
  double best_copy = 1e9;
  pass(all);
  for (auto _ : state) {
    Clock::time_point start = Clock::now();
    pass(all);
    const double seconds = seconds_since(start);
    state.SetIterationTime(seconds);
    best_pass = std::min(best_pass, seconds);
    start = Clock::now();
    bench::stream_copy(all.x.data(), all.y.data(), traffic / 2);
    best_copy = std::min(best_copy, seconds_since(start));
  }
  state.counters["ns"] = best_pass / static_cast<double>(all.count) * 1e9;
  state.counters["of_copy"] = best_copy / best_pass;
}

struct Case {
  const char* function;
  const generated::StepTable* table;
};

StepView view_of(const generated::StepTable& table) {
  return {table.bits,  table.even,        table.threshold_count, table.thresholds,
          table.codes, table.level_count, table.levels};
}

void forward_case(benchmark::State& state, Case chosen, ElementType type) {
  const Activation& activation = *find_activation(chosen.function);
  const StepView steps = view_of(*chosen.table);
  const bool is_unbiased = steps.threshold_count == 0;
  compare(state, type, steps.bits, [&](Buffers& all) {
    const Range range{0, all.count, all.count};
    if (is_unbiased) {
      activation_forward_unbiased(activation, nullptr, steps, {1, 2}, type, all.x.data(),
                                  all.y.data(), all.codes.data(), range);
    } else {
      activation_forward(activation, nullptr, steps, type, all.x.data(), all.y.data(),
                         all.codes.data(), range);
    }
  });
}

void backward_case(benchmark::State& state, Case chosen, ElementType type) {
  const StepView steps = view_of(*chosen.table);
  compare(state, type, steps.bits, [&](Buffers& all) {
    activation_backward(steps, type, all.x.data(), all.codes.data(), all.y.data(),
                        {0, all.count, all.count});
  });
}

/// Values of floats by what was fitted to the function and by its own loop, in turn, on what the
/// caches hold.
void fitted_case(benchmark::State& state, const Activation& activation) {
  constexpr int64_t kCount = 1 << 15;
  constexpr int kPasses = 20;
  FunctionKernels kernels = *activation.kernels;
  kernels.fitted = []() -> const Fitted& {
    static const Fitted none;
    return none;
  };
  Activation plain = activation;
  plain.kernels = &kernels;
  Buffers& all = buffers();
  fill_normal(ElementType::f32, all);
  const auto best_of = [&](const Activation& subject) {
    double best = 1e9;
    for (int pass = 0; pass < kPasses; ++pass) {
      const Clock::time_point start = Clock::now();
      activation_forward(subject, nullptr, {}, ElementType::f32, all.x.data(), all.y.data(),
                         nullptr, {0, kCount, kCount});
      best = std::min(best, seconds_since(start));
    }
    return best;
  };
  double fitted = 1e9;
  double loop = 1e9;
  for (auto _ : state) {
    fitted = std::min(fitted, best_of(activation));
    loop = std::min(loop, best_of(plain));
  }
  state.counters["ns"] = fitted / static_cast<double>(kCount) * 1e9;
  state.counters["of_loop"] = loop / fitted;
}

/// What the first pass of a function waits for.
void fit_case(benchmark::State& state, const Activation& activation) {
  const FunctionKernels& kernels = *activation.kernels;
  for (auto _ : state) {
    benchmark::DoNotOptimize(fit(kernels.function));
    for (const ElementType type : {ElementType::bf16, ElementType::f16}) {
      benchmark::DoNotOptimize(
          tabulate_halves(type, kernels.isa[kBaseline].slope, kernels.function));
    }
  }
}

const Case kCases[] = {
#define FEWBIT_TABLE(function, table) {#function, &generated::function::tables::table},
#include "generated/registry.inc"
};

bool is_measured(const std::string& table) {
  return table.starts_with("levels_uniform") || table == "unbiased_normal_b2" ||
         table == "levels_normal_b3";
}

void register_all() {
  for (const Activation& activation : activations()) {
    const std::string name = std::string("fit/") + activation.name;
    benchmark::RegisterBenchmark(name.c_str(), fit_case, activation)->Unit(benchmark::kMillisecond);
    if (std::holds_alternative<std::monostate>(activation.kernels->fitted())) continue;
    benchmark::RegisterBenchmark((std::string("fitted/") + activation.name).c_str(), fitted_case,
                                 activation)
        ->Unit(benchmark::kMillisecond);
  }
  const std::pair<const char*, ElementType> types[] = {{"f32", ElementType::f32},
                                                       {"bf16", ElementType::bf16},
                                                       {"f16", ElementType::f16},
                                                       {"f64", ElementType::f64}};
  for (const Case& chosen : kCases) {
    if (!is_measured(chosen.table->name)) continue;
    for (const auto& [type_name, type] : types) {
      const std::string rest =
          std::string("/") + chosen.function + "/" + type_name + "/" + chosen.table->name;
      const auto add = [&](const std::string& name, auto* run) {
        benchmark::RegisterBenchmark(name.c_str(), run, chosen, type)
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond)
            ->MinTime(0.1);
      };
      add("forward" + rest, forward_case);
      if (std::string(chosen.function) == "gelu") add("backward" + rest, backward_case);
    }
  }
}

}  // namespace

}  // namespace fewbit::kernels

void fewbit::bench::register_cases() {
  fewbit::kernels::register_all();
}

// How long does a proven table take? Run: scripts/bench solver

#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "functions/registry.hpp"
#include "proven/solve.hpp"
#include "search/segment_cost.hpp"
#include "search/segment_program.hpp"
#include "search/setting.hpp"
#include "search/value_axis.hpp"
#include "search/x_axis.hpp"

namespace {

using namespace fewbit::solver;

Problem problem_of(const FunctionInfo& info, Form form, int levels) {
  Problem problem;
  problem.function = parse_function(info.name);
  problem.form = form;
  problem.levels = levels;
  return problem;
}

double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

/// 1 to 4 bits, all forms, of one function; the largest relative gap.
double solve_function(const FunctionInfo& info) {
  double largest = 0.0;
  for (const Form form : {Form::intervals, Form::levels, Form::unbiased}) {
    for (int bits = 1; bits <= 4; ++bits) {
      largest = std::max(largest, solve(problem_of(info, form, 1 << bits)).relative_gap);
    }
  }
  return largest;
}

/// Target: 1 s wall on two cores, every gap at most 1e-9.
void all_functions(benchmark::State& state) {
  const auto threads = static_cast<size_t>(state.range(0));
  double largest = 0.0;
  for (auto _ : state) {
    std::atomic<size_t> next{0};
    std::vector<double> gaps(registry().size());
    std::vector<std::thread> pool;
    for (size_t i = 0; i < threads; ++i) {
      pool.emplace_back([&] {
        for (size_t f = next++; f < registry().size(); f = next++) {
          gaps[f] = solve_function(registry()[f]);
        }
      });
    }
    for (std::thread& thread : pool) thread.join();
    largest = *std::max_element(gaps.begin(), gaps.end());
  }
  state.counters["largest_gap"] = largest;
  state.counters["tables"] = static_cast<double>(registry().size() * 12);
}
BENCHMARK(all_functions)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void one_table(benchmark::State& state, const char* function, Form form) {
  Table table;
  for (auto _ : state) {
    table = solve(problem_of(find_function(function), form, static_cast<int>(state.range(0))));
  }
  state.counters["gap"] = table.relative_gap;
  state.counters["peak_MiB"] = peak_memory_mib();
  state.SetComplexityN(state.range(0));
}
BENCHMARK_CAPTURE(one_table, gelu_levels, "gelu", Form::levels)
    ->RangeMultiplier(2)
    ->Range(2, 256)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();
BENCHMARK_CAPTURE(one_table, gelu_intervals, "gelu", Form::intervals)
    ->RangeMultiplier(2)
    ->Range(2, 256)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();
BENCHMARK_CAPTURE(one_table, gelu_unbiased, "gelu", Form::unbiased)
    ->RangeMultiplier(2)
    ->Range(2, 256)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

/// One program of 16 segments on n cells: how time grows with n, on the x axis (pruned search) and
/// on the axis of values (divide and conquer).
template <class SomeAxis>
void program_on_cells(benchmark::State& state) {
  const Setting setting(parse_function("gelu"), {}, {-10.0, 10.0}, false);
  const SomeAxis axis(setting.integral());
  const BorderSet borders = axis.first_borders(static_cast<size_t>(state.range(0)));
  IndexSet all(borders.size());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<IndexSet> sets(17, all);
  sets.front() = {0};
  sets.back() = {all.back()};
  for (auto _ : state) {
    const SegmentProgram<VarianceCost> program(
        borders, sets, [&axis](double a, double b) { return axis.is_monotone(a, b); });
    benchmark::DoNotOptimize(program.best());
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(program_on_cells<XAxis>)
    ->RangeMultiplier(2)
    ->Range(512, 8192)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();
BENCHMARK(program_on_cells<ValueAxis>)
    ->RangeMultiplier(2)
    ->Range(512, 8192)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

/// A histogram as calibration would collect it. Target: 10 ms with 4096 bins and 16 levels.
WeightSpec histogram(size_t bins) {
  WeightSpec weight;
  weight.kind = "histogram";
  double total = 0.0;
  for (size_t i = 0; i <= bins; ++i) {
    weight.edges.push_back(-6.0 + 12.0 * static_cast<double>(i) / static_cast<double>(bins));
  }
  for (size_t i = 0; i < bins; ++i) {
    const double x = weight.edges[i];
    weight.masses.push_back(std::exp(-0.5 * (x + 0.4) * (x + 0.4)) + 1e-6);
    total += weight.masses.back();
  }
  for (double& mass : weight.masses) mass /= total;
  return weight;
}

void refit(benchmark::State& state) {
  Problem problem = problem_of(find_function("gelu"), Form::levels, 16);
  problem.weight = histogram(static_cast<size_t>(state.range(0)));
  problem.domain = {-6.0, 6.0};
  Table table;
  for (auto _ : state) table = solve(problem);
  state.counters["gap"] = table.relative_gap;
  state.SetComplexityN(state.range(0));
}
BENCHMARK(refit)
    ->RangeMultiplier(4)
    ->Range(256, 16384)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

}  // namespace

BENCHMARK_MAIN();

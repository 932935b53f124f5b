#include <benchmark/benchmark.h>

#include "bench/google_cases.hpp"

int main(int argc, char** argv) {
  fewbit::bench::register_cases();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}

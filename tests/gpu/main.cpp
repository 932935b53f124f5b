// gpu_test [--small] [NAME...]: runs the tests of those names, or all; --small leaves out what
// takes too long under compute-sanitizer. Exit 1 where one fails, 77 where there is no device.
#include <chrono>
#include <cstdio>
#include <set>

#include "tests/gpu/gpu_test.hpp"

namespace {

using fewbit::kernels::cuda::Cost;
using fewbit::kernels::cuda::GpuTest;

bool passes(const GpuTest& test) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::string failure;
  try {
    test.run();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::printf("%s %s (%.2f s)%s%s\n", failure.empty() ? "passed" : "FAILED", test.name, seconds,
              failure.empty() ? "" : ": ", failure.c_str());
  std::fflush(stdout);
  return failure.empty();
}

}  // namespace

int main(int argc, char** argv) {
  std::set<std::string> names(argv + 1, argv + argc);
  const bool is_small = names.erase("--small") > 0;
  if (const std::string absence = fewbit::device::absence(); !absence.empty()) {
    std::printf("skipped: %s\n", absence.c_str());
    return 77;
  }
  int run = 0, failed = 0;
  for (const GpuTest& test : fewbit::kernels::cuda::gpu_tests()) {
    if (!names.empty() ? !names.contains(test.name) : is_small && test.cost == Cost::large)
      continue;
    ++run;
    failed += passes(test) ? 0 : 1;
  }
  std::printf("%d tests, %d failed\n", run, failed);
  return run == 0 || failed > 0 ? 1 : 0;
}

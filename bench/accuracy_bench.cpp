// How far float results are from f and f' in double, over all floats of the domain's binades: the
// generated code, the runtime's kernels, and libtorch's own operation and autograd. Prints
// Markdown; ends with 1 where ours is beyond the bound or the code is worse than libtorch.
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <hwy/highway.h>
#include <unistd.h>

#include "bench/accuracy/libtorch_functions.hpp"
#include "bench/accuracy/measure.hpp"

namespace fewbit::bench {

namespace {

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& [name, function] : libtorch_functions()) names.push_back(name);
  return names;
}

struct Options {
  std::vector<std::string> functions = all_names();
  uint32_t stride = 1;
  int64_t target = 0;
};

const char* text_of(Standing standing) {
  switch (standing) {
    case Standing::no_worse:
      return "yes";
    case Standing::close:
      return "within 0.5";
    case Standing::worse:
      return "no";
    default:
      return "beyond the bound";
  }
}

/// A row of the table; whether ours keeps the bound and the code is no worse than libtorch.
bool print_row(const std::string& function, const char* which, const Worst& code,
               const Worst& kernel, const Worst& libtorch) {
  std::printf("| %s | %s |", function.c_str(), which);
  for (const Worst* worst : {&code, &kernel, &libtorch}) {
    std::printf(" %.3f at %.9g |", worst->units, static_cast<double>(worst->units_at));
  }
  for (const Worst* worst : {&code, &kernel, &libtorch}) std::printf(" %.3g |", worst->ulps);
  const Standing of_code = standing_of(code, libtorch);
  const Standing of_kernel = standing_of(kernel, libtorch);
  std::printf(" %s | %s |\n", text_of(of_code), text_of(of_kernel));
  return of_code != Standing::worse && of_code != Standing::beyond_bound &&
         of_kernel != Standing::beyond_bound;
}

bool run(const std::string& function, uint32_t stride) {
  const bool is_terminal = isatty(STDERR_FILENO) != 0;
  const auto progress = [&](double share) {
    std::fprintf(stderr, "\r%s: %.0f %% ", function.c_str(), 100.0 * share);
  };
  const std::vector<Accuracy> of =
      measure(Reference(function), subjects_of(function), domain_binades(stride),
              is_terminal ? ShareDone(progress) : ShareDone());
  if (is_terminal) std::fprintf(stderr, "\r\033[K");
  const bool value = print_row(function, "f", of[0].value, of[1].value, of[2].value);
  const bool slope = print_row(function, "f'", of[0].slope, of[1].slope, of[2].slope);
  std::fflush(stdout);
  return value && slope;
}

bool run_all(const std::vector<std::string>& functions, uint32_t stride) {
  std::printf(
      "Largest error in units of max(2 ulp, 2^-24 max(1, |x|)), which may be 1, and the x where it "
      "is; then in ulp of the exact result. No worse than libtorch: `within 0.5` says that ours is "
      "the larger but at most half a unit, an ulp.\n\n"
      "| function | | code | kernel | libtorch | code, ulp | kernel, ulp | libtorch, ulp | code no "
      "worse | kernel no worse |\n|---|---|---|---|---|---|---|---|---|---|\n");
  bool all_well = true;
  for (const std::string& function : functions) all_well = run(function, stride) && all_well;
  return all_well;
}

}  // namespace

}  // namespace fewbit::bench

int main(int argc, char** argv) {
  namespace bench = fewbit::bench;
  CLI::App app(
      "Errors of the generated code, the kernels and libtorch over all floats of the domain.\n"
      "Example: scripts/bench accuracy --functions gelu silu --stride 101");
  bench::Options options;
  app.add_option("--functions", options.functions,
                 "names, as fewbit-solve list shows them; all if none")
      ->check(CLI::IsMember(bench::all_names()));
  app.add_option("--stride", options.stride, "every so many floats")->check(CLI::Range(1, 1000000));
  app.add_option("--target", options.target, "instruction set of the kernels, the widest if none")
      ->transform(CLI::CheckedTransformer(std::map<std::string, int64_t>{
          {"sse4", HWY_SSE4}, {"avx2", HWY_AVX2}, {"avx512", HWY_AVX3}}));
  CLI11_PARSE(app, argc, argv);
  if (options.target != 0) hwy::SetSupportedTargetsForTest(options.target);
  return bench::run_all(options.functions, options.stride) ? 0 : 1;
}

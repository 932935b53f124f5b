// A calibrator's fit of one activation to what it saw, and what watching adds to its forward.
// Prints Markdown: processor milliseconds of fit(), the median of several, for data of several
// shapes; the aim is 50 whatever they are. Watching is told as a multiple of the unwatched forward,
// and by the memory it takes meanwhile; the aim is 5 % of a large input.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <CLI/CLI.hpp>

#include "bench/measure.hpp"
#include "bench/studies/studies.hpp"
#include "calibration/site_statistics.hpp"
#include "fewbit/fewbit.hpp"
#include "fewbit/peak_bytes.hpp"

namespace fewbit::bench::calibration_study {

namespace {

constexpr int64_t kRows = 4096;
constexpr int64_t kChannels = 256;

struct Data {
  const char* name;
  std::function<at::Tensor()> draw;
};

const std::vector<Data>& data() {
  static const std::vector<Data> kinds{
      {"normal",
       [] {
         return at::randn({kRows, kChannels});
       }},
      {"shifted channels",
       [] {
         return at::randn({kRows, kChannels}) * 0.5 + at::randn({kChannels});
       }},
      {"heavy tails",
       [] {
         return at::randn({kRows, kChannels}).pow(5);
       }},
      {"few values",
       [] {
         return at::randint(-3, 4, {kRows, kChannels}).to(at::kFloat);
       }},
      {"far out",
       [] {
         return at::randn({kRows, kChannels}) * 40;
       }},
      {"one sided",
       [] {
         return at::randn({kRows, kChannels}).abs().neg();
       }},
  };
  return kinds;
}

nn::GELU gelu(int bits) {
  return nn::GELU(nn::GELUOptions().bits(bits));
}

nn::SiLU silu(int bits) {
  return nn::SiLU(nn::SiLUOptions().bits(bits));
}

template <class Module>
double median_fit_milliseconds(const std::function<Module(int)>& make, int bits,
                               const at::Tensor& x, int repeats) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    Module module = make(bits);
    Calibrator calibrator(*module);
    module->forward(x);
    times.push_back(1e3 * processor_seconds_of([&] { calibrator.fit(); }));
  }
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[static_cast<size_t>(repeats) / 2];
}

template <class Module>
void print_fits(const char* name, const std::function<Module(int)>& make, int repeats) {
  for (const int bits : {1, 2, 3, 4, 5, 8}) {
    std::printf("| %s | %d |", name, bits);
    for (const Data& kind : data()) {
      at::manual_seed(1);
      std::printf(" %.0f |", median_fit_milliseconds(make, bits, kind.draw(), repeats));
      std::fflush(stdout);
    }
    std::printf("\n");
  }
}

double best_forward_seconds(nn::GELU& module, const at::Tensor& x, int repeats) {
  double best = INFINITY;
  for (int i = 0; i < repeats; ++i) {
    best = std::min(best, seconds_of([&] { module->forward(x); }));
  }
  return best;
}

int64_t peak_bytes_of_watching(const at::Tensor& x) {
  session::SiteStatistics statistics;
  statistics.observe(x);  // what stays is there now
  return peak_bytes([&] { statistics.observe(x); });
}

void print_watching(int repeats) {
  std::printf(
      "\nWatching\n\n| elements | forward (ms) | watched, times that | "
      "memory beside the input, %% of it |\n|---|---|---|---|\n");
  for (const int64_t rows : {int64_t{64}, kRows, 16 * kRows}) {
    const at::Tensor x = at::randn({rows, kChannels}).requires_grad_();
    nn::GELU module = gelu(2);
    const double alone = best_forward_seconds(module, x, repeats);
    const Calibrator calibrator(*module);
    const double watched = best_forward_seconds(module, x, repeats);
    const auto bytes = static_cast<double>(peak_bytes_of_watching(x.detach()));
    std::printf("| %lld | %.3f | %.1f | %.1f |\n", static_cast<long long>(x.numel()), 1e3 * alone,
                watched / alone, 100.0 * bytes / static_cast<double>(x.nbytes()));
  }
}

void run(int repeats) {
  std::printf("Fit (ms of processor time)\n\n| function | bits |");
  for (const Data& kind : data()) std::printf(" %s |", kind.name);
  std::printf("\n|---|---|");
  for (size_t i = 0; i < data().size(); ++i) std::printf("---|");
  std::printf("\n");
  print_fits<nn::GELU>("gelu", gelu, repeats);
  print_fits<nn::SiLU>("silu", silu, repeats);
  print_watching(repeats);
}

}  // namespace

Study command(CLI::App& app) {
  app.description("Times a calibrator: its fits, and watching");
  const auto repeats = std::make_shared<int>(5);
  app.add_option("--repeats", *repeats, "Runs of each case")->capture_default_str();
  return [repeats] {
    at::set_num_threads(1);
    run(*repeats);
    return 0;
  };
}

}  // namespace fewbit::bench::calibration_study

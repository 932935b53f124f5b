// Few-bit activations in libtorch against its own: forward (with codes) and backward, each beside a
// non-temporal copy of the bytes that our pass moves, all measured in turn in one run, best of
// several rounds. Prints Markdown; --results writes it to a file that is named for the processor;
// --json writes an array of rows, times in seconds: function, dtype, bits, pass, threads, n,
// ours_s, exact_s, copy_s.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <torch/csrc/autograd/autograd.h>
#include <torch/version.h>

#include "bench/accuracy/libtorch_functions.hpp"
#include "bench/measure.hpp"
#include "bench/studies/parallel_copy.hpp"
#include "bench/studies/studies.hpp"
#include "fewbit/fewbit.hpp"

namespace fewbit::bench::activation_study {

namespace {

using at::Tensor;

struct Row {
  std::string function;
  std::string dtype;
  int bits;
  std::string pass;
  int threads;
  int64_t n;
  double ours_s;
  double exact_s;
  double copy_s;
};

struct Options {
  std::vector<std::string> functions{"gelu", "silu", "tanh", "mish", "relu"};
  bool all = false;
  std::vector<std::string> dtypes{"float", "bfloat16"};
  std::vector<int> bits{3};
  std::vector<int> exponents{16, 20, 24};
  std::vector<int> threads{1, static_cast<int>(std::thread::hardware_concurrency())};
  double seconds = 0.3;
  std::string json;
  std::string results;
};

/// "amd_epyc_family_26_model_2_2_cores.md".
std::string file_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  return name + ".md";
}

/// The best time of each action; they take turns for so many seconds, at least five times.
std::vector<double> best_times(const std::vector<std::function<void()>>& actions, double seconds) {
  std::vector<double> best(actions.size(), INFINITY);
  double spent = 0.0;
  for (int round = 0; round < 6 || spent < seconds; ++round) {
    for (size_t i = 0; i < actions.size(); ++i) {
      const double time = seconds_of(actions[i]);
      spent += time;
      if (round > 0) best[i] = std::min(best[i], time);  // the first touches memory
    }
  }
  return best;
}

/// Moves `bytes` in all: half of them read, half written.
std::function<void()> copy_of(int64_t bytes) {
  const int64_t half = (bytes / 2 + 63) / 64 * 64;
  const Tensor from = at::ones({half}, at::kByte);
  const Tensor to = at::ones({half}, at::kByte);
  return
      [=] { parallel_copy(from.const_data_ptr<uint8_t>(), to.mutable_data_ptr<uint8_t>(), half); };
}

at::ScalarType type_of(const std::string& name) {
  const std::map<std::string, at::ScalarType> types = {{"float", at::kFloat},
                                                       {"bfloat16", at::kBFloat16},
                                                       {"half", at::kHalf},
                                                       {"double", at::kDouble}};
  return types.at(name);
}

void add_rows(std::vector<Row>& rows, const std::string& function, const std::string& dtype,
              int bits, int64_t n, int threads, double seconds) {
  at::set_num_threads(threads);
  const Table table = Table::standard(function, Bits{bits});
  const LibtorchFunction exact = libtorch_functions().at(function);
  const Tensor x = at::randn({n}).to(type_of(dtype)).requires_grad_();
  const Tensor dy = at::randn({n}).to(type_of(dtype));
  const int64_t bytes = 2 * n * x.element_size() + (n * table.bits() + 7) / 8;
  const auto copy = copy_of(bytes);
  const auto forward =
      best_times({[&] { activation(x, table); }, [&] { exact(x); }, copy}, seconds);
  rows.push_back(
      {function, dtype, table.bits(), "forward", threads, n, forward[0], forward[1], forward[2]});
  const Tensor y = activation(x, table);
  const Tensor y_exact = exact(x);
  const auto gradient = [&](const Tensor& of) {
    torch::autograd::grad({of}, {x}, {dy}, /*retain_graph=*/true);
  };
  const auto backward =
      best_times({[&] { gradient(y); }, [&] { gradient(y_exact); }, copy}, seconds);
  rows.push_back({function, dtype, table.bits(), "backward", threads, n, backward[0], backward[1],
                  backward[2]});
}

std::string text_of(const Row& row) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(),
                "| %s | %s | %d | %s | %d | %lld | %.3f | %.3f | %.3f | %.2f | %.2f |\n",
                row.function.c_str(), row.dtype.c_str(), row.bits, row.pass.c_str(), row.threads,
                static_cast<long long>(row.n), row.ours_s * 1e3, row.exact_s * 1e3,
                row.copy_s * 1e3, row.exact_s / row.ours_s, row.copy_s / row.ours_s);
  return text.data();
}

constexpr const char* kTitles =
    "libtorch's time over ours and a copy's time over ours: more is better\n\n"
    "| function | type | bits | pass | threads | n | ours ms | exact ms | copy ms | exact / ours | "
    "copy / ours |\n|---|---|---|---|---|---|---|---|---|---|---|\n";

/// Says it to the screen, now.
void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void write_results(const std::string& folder, const std::vector<Row>& rows) {
  const std::filesystem::path path = std::filesystem::path(folder) / file_name(processor_name());
  std::ofstream file(path);
  file << "# Activations in libtorch: " << processor_name()
       << "\n\n`scripts/bench activation`, libtorch " << TORCH_VERSION
       << ". What bounds them: [README.md](README.md).\n\n"
       << kTitles;
  for (const Row& row : rows) file << text_of(row);
  file.close();
  print((file ? "wrote " : "could not write ") + path.string() + '\n');
}

nlohmann::ordered_json json_of(const Row& row) {
  return {{"function", row.function}, {"dtype", row.dtype},     {"bits", row.bits},
          {"pass", row.pass},         {"threads", row.threads}, {"n", row.n},
          {"ours_s", row.ours_s},     {"exact_s", row.exact_s}, {"copy_s", row.copy_s}};
}

std::vector<Row> run(const Options& options) {
  print(kTitles);
  std::vector<Row> rows;
  for (const std::string& function : options.functions) {
    for (const std::string& dtype : options.dtypes) {
      for (const int bits : options.bits) {
        for (const int exponent : options.exponents) {
          for (const int threads : options.threads) {
            add_rows(rows, function, dtype, bits, int64_t{1} << exponent, threads, options.seconds);
            print(text_of(rows[rows.size() - 2]) + text_of(rows.back()));
          }
        }
      }
    }
  }
  return rows;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& [name, function] : libtorch_functions()) names.push_back(name);
  return names;
}

}  // namespace

Study command(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.description(
      "Few-bit activations against libtorch's own and against a copy of the same bytes.\n"
      "Example: scripts/bench activation --functions gelu silu --json rows.json\n"
      "         scripts/bench activation --all --results bench/results/activation");
  app.add_option("--functions", options->functions, "names, as fewbit-solve list shows them")
      ->check(CLI::IsMember(all_names()));
  app.add_flag("--all", options->all, "all functions");
  app.add_option("--dtypes", options->dtypes, "float bfloat16 half double")
      ->check(CLI::IsMember({"float", "bfloat16", "half", "double"}));
  app.add_option("--bits", options->bits, "1 to 8")->check(CLI::Range(1, 8));
  app.add_option("--exponents", options->exponents, "sizes are 2^E")->check(CLI::Range(4, 30));
  app.add_option("--threads", options->threads, "numbers of threads");
  app.add_option("--seconds", options->seconds, "of each measurement");
  app.add_option("--json", options->json, "file for the rows");
  app.add_option("--results", options->results, "folder for a table named for the processor")
      ->check(CLI::ExistingDirectory);
  return [options] {
    keep_memory();
    if (options->all) options->functions = all_names();
    sort_once(options->threads);
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    const std::vector<Row> measured = run(*options);
    for (const auto& row : measured) rows.push_back(json_of(row));
    if (!options->results.empty()) write_results(options->results, measured);
    if (!options->json.empty()) std::ofstream(options->json) << rows.dump(1) << '\n';
    return 0;
  };
}

}  // namespace fewbit::bench::activation_study

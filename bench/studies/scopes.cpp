// What a scope costs for each saved tensor that it does not code: hooks, the trace of operations,
// interception. A chain of small operations, forward and backward, beside the same without a scope.
// Prints Markdown; --out writes scopes.html, .md and .json.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sin.h>

#include "bench/codecs/show.hpp"
#include "bench/measure.hpp"
#include "bench/studies/studies.hpp"
#include "fewbit/compressor.hpp"
#include "fewbit/saved_bytes.hpp"

namespace fewbit::bench::scopes_study {

namespace {

struct Options {
  int operations = 500;  ///< of a chain
  int rounds = 15;
  std::string folder;
};

/// An operation that saves so many tensors.
struct Chain {
  std::string name;
  int saved;
  std::function<at::Tensor(const at::Tensor&)> operation;
};

/// Runs a forward in a scope.
struct Scope {
  std::string name;
  std::function<at::Tensor(const std::function<at::Tensor()>& forward)> run;
};

std::vector<Chain> chains(int64_t size) {
  const at::Tensor weight = at::randn({size, size}).mul_(0.1).requires_grad_();
  const at::Tensor bias = at::randn({size}).requires_grad_();
  return {{"sin", 1, [](const at::Tensor& x) { return at::sin(x); }},
          {"relu", 1, [](const at::Tensor& x) { return at::relu(x); }},
          {"linear", 2, [=](const at::Tensor& x) { return at::linear(x, weight, bias); }}};
}

std::vector<Scope> scopes() {
  const auto exact = std::make_shared<Compressor>(CompressorOptions{.bits = 2});
  exact->leave_alone("*");
  const auto coded = std::make_shared<Compressor>(CompressorOptions{.bits = 2});
  const auto in = [](const std::shared_ptr<Compressor>& compressor) {
    return [compressor](const std::function<at::Tensor()>& forward) {
      const CompressionScope scope(*compressor);
      return forward();
    };
  };
  return {{"none", [](const std::function<at::Tensor()>& forward) { return forward(); }},
          {"SavedBytes",
           [](const std::function<at::Tensor()>& forward) {
             SavedBytes meter;
             const auto watch = meter.watch();
             return forward();
           }},
          {"CompressionScope, all exact by rule", in(exact)},
          {"CompressionScope, 2 bits", in(coded)}};
}

double seconds(const Chain& chain, const Scope& scope, const at::Tensor& x, int operations) {
  return seconds_of([&] {
    const at::Tensor y = scope.run([&] {
      at::Tensor h = x;
      for (int i = 0; i < operations; ++i) h = chain.operation(h);
      return h.sum();
    });
    y.backward();
  });
}

void add_rows(examples::Sheet& sheet, const Chain& chain, const at::Tensor& x,
              const Options& options) {
  const std::vector<Scope> all = scopes();
  std::vector<std::vector<double>> microseconds(all.size());
  for (int round = 0; round < options.rounds + 2; ++round) {
    std::vector<double> of_round;
    for (const Scope& scope : all) of_round.push_back(seconds(chain, scope, x, options.operations));
    for (size_t i = 0; i < all.size() && round >= 2; ++i) {
      const double more = i == 0 ? of_round[0] : of_round[i] - of_round[0];
      microseconds[i].push_back(more * 1e6 / options.operations / (i == 0 ? 1 : chain.saved));
    }
  }
  std::vector<std::string> row{chain.name};
  for (const std::vector<double>& of : microseconds) row.push_back(examples::number(median(of)));
  sheet.rows.push_back(row);
}

void run(const Options& options) {
  at::set_num_threads(1);
  constexpr int64_t kSize = 16;
  examples::Page page("What a scope costs");
  page.add("`scripts/bench scopes --out bench/results`, " + processor_name() + ", one thread.");
  examples::Sheet sheet{"Microseconds", {"operation"}, {}};
  for (const Scope& scope : scopes()) {
    sheet.columns.push_back(scope.name == "none" ? "an operation without scope" : scope.name);
  }
  const at::Tensor x = at::randn({kSize, kSize}).requires_grad_();
  for (const Chain& chain : chains(kSize)) add_rows(sheet, chain, x, options);
  show(page, sheet,
       "Of a chain of " + std::to_string(options.operations) +
           " operations on 16 x 16 numbers, forward and backward: what a scope adds, for each "
           "tensor "
           "that is saved, in the median over " +
           std::to_string(options.rounds) +
           " rounds, in which the scopes take turns. In 2 bits so few numbers are left as they "
           "are.");
  if (!options.folder.empty()) page.write(options.folder, "scopes");
}

}  // namespace

Study command(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.description(
      "What a scope costs for each saved tensor, beside the arithmetic of coding.\n"
      "Example: scripts/bench scopes --operations 2000");
  app.add_option("--operations", options->operations, "of a chain")->check(CLI::PositiveNumber);
  app.add_option("--rounds", options->rounds, "of each case")->check(CLI::PositiveNumber);
  app.add_option("--out", options->folder, "folder for the page");
  return [options] {
    run(*options);
    return 0;
  };
}

}  // namespace fewbit::bench::scopes_study

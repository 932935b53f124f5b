#include "examples/compression/course.hpp"

#include <iostream>
#include <set>

#include "examples/support/page.hpp"
#include "fewbit/saved_bytes.hpp"

namespace fewbit::examples {
namespace {

constexpr size_t kTail = 100;

// What one forward keeps, the bits split as in the steps before.
int64_t kept(const BatchLoss& loss, const Activate& activate, int64_t step) {
  SavedBytes meter;
  const auto watch = meter.watch();
  const at::Tensor value = loss(step, activate);
  return meter.unique_bytes();
}

// Whatever is coded of a forward.
std::set<std::string> operations(const BatchLoss& loss, const Activate& activate) {
  Compressor compressor;
  const CompressionScope scope(compressor);
  const at::Tensor value = loss(0, activate);
  std::set<std::string> names;
  for (const Compressor::Site& site : compressor.sites()) names.insert(site.operation);
  return names;
}

Run train(const Course& course, const Variant& variant, uint64_t seed) {
  Subject subject = make_subject(course.model, course.function, seed);
  const int64_t steps = course.recipe.steps;
  if (variant.is_nudged) nudge(subject.parameters, seed);
  const Activate activate = exact(course.function).activate;
  CompressorOptions options;
  if (variant.coding) {
    options = variant.coding->options;
    options.bits = variant.bits;
  }
  Compressor compressor(options);
  if (variant.coding && !variant.coding->alone.empty()) {
    for (const std::string& other : operations(subject.loss, activate)) {
      if (other != variant.coding->alone) compressor.leave_alone(other);
    }
  }
  if (variant.coding && variant.coding->runs_layers_again) {
    for (const char* name : {"linear", "activation"})
      compressor.recompute(name, Recompute::where_better);
  }
  BatchLoss loss = subject.loss;
  if (variant.coding) {
    loss = [&](int64_t step, const Activate& function) {
      const CompressionScope scope(compressor);
      return subject.loss(step, function);
    };
  }
  const std::vector<double> losses = train(subject.parameters, loss, activate, course.recipe);
  const Run result{tail_mean(losses, kTail), subject.accuracy(activate),
                   kept(loss, activate, steps), compressor.sites()};
  std::cerr << course.name() << ", seed " << seed << ", " << variant.name() << ": "
            << number(result.loss, 5) << ", " << result.bytes << " bytes\n";
  return result;
}

}  // namespace

std::string Variant::name() const {
  if (!coding) return is_nudged ? "exact, nudged" : "exact";
  return coding->name + ", " + number(bits) + (bits == 1.0 ? " bit" : " bits");
}

Result run(const Course& course, const Variant& variant, uint64_t seeds) {
  Result result{variant, {}};
  for (uint64_t seed = 1; seed <= seeds; ++seed)
    result.runs.push_back(train(course, variant, seed));
  return result;
}

std::vector<double> above(const Result& result, const Result& exact_runs) {
  std::vector<double> differences;
  for (size_t i = 0; i < result.runs.size(); ++i) {
    differences.push_back(result.runs[i].loss - exact_runs.runs[i].loss);
  }
  return differences;
}

}  // namespace fewbit::examples

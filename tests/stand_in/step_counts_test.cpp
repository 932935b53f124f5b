// What storing one tensor costs a GPU in a settled step: launches, torch's operations, bytes that
// kernels read and write, allocations. The committed table is what is counted.
#include <fstream>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>

#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <torch/version.h>

#include "fewbit/fewbit.hpp"
#include "tests/stand_in/counted_passes.hpp"
#include "tests/stand_in/device/counts.hpp"
#include "tests/stand_in/networks.hpp"

namespace fewbit::step_counts_test {

using test::SmallNetwork;
using Tensors = SmallNetwork::Tensors;

constexpr int64_t kRows = 64, kChannels = 256;

struct Case {
  std::string what;
  CompressorOptions options;
  SmallNetwork network;
};

/// A layer that saves what `before` makes of x.
SmallNetwork layer_behind(std::function<at::Tensor(const at::Tensor&)> before) {
  at::manual_seed(3);
  return {"layer",
          at::randn({kRows, kChannels}),
          {test::small_parameter({kChannels, kChannels}, 0.1)},
          [=](const at::Tensor& x, const Tensors& p) {
            return at::linear(before(at::linear(x, p[0])), p[0]).sum();
          }};
}

/// 33 layers, of which all but the first save a small tensor.
SmallNetwork small_layers() {
  at::manual_seed(3);
  return {"small layers",
          at::randn({32, 32}),
          {test::small_parameter({32, 32}, 0.1)},
          [](const at::Tensor& x, const Tensors& p) {
            at::Tensor h = x;
            for (int i = 0; i < 33; ++i) h = at::linear(h, p[0]);
            return h.sum();
          }};
}

SmallNetwork convolution() {
  at::manual_seed(3);
  return {"convolution",
          at::randn({4, 16, 16, 16}),
          {test::small_parameter({16, 16, 3, 3}, 0.1)},
          [](const at::Tensor& x, const Tensors& p) {
            return at::conv2d(at::conv2d(x, p[0], {}, 1, 1), p[0], {}, 1, 1).sum();
          }};
}

std::vector<Case> cases() {
  const SmallNetwork plain = layer_behind([](const at::Tensor& x) { return x; });
  const auto with = [](at::Tensor (*function)(const at::Tensor&)) {
    return layer_behind(function);
  };
  const SmallNetwork norm =
      layer_behind([](const at::Tensor& x) { return at::layer_norm(x, {kChannels}); });
  return {{"layer, layer: rotated, 2 bits", {.bits = 2}, plain},
          {"layer, layer: rotated, trellis of 4 states", {.bits = 2, .trellis = 4}, plain},
          {"layer, layer: group, 2 bits", {.bits = 2, .scheme = Scheme::group}, plain},
          {"layer, layer: actnn, 2 bits", {.bits = 2, .scheme = Scheme::actnn}, plain},
          {"layer, layer: rotated, 4 bits, offloaded", {.bits = 4, .offload = true}, plain},
          {"layer, layer norm, layer: rotated, 2 bits", {.bits = 2}, norm},
          {"layer, relu, layer: rotated, 2 bits", {.bits = 2}, with(at::relu)},
          {"layer, silu, layer: rotated, 2 bits", {.bits = 2}, with(at::silu)},
          {"convolution, convolution: division, 2 bits",
           {.bits = 2, .scheme = Scheme::division},
           convolution()},
          {"33 layers, 32 tensors of 1,024: rotated, 2 bits", {.bits = 2}, small_layers()}};
}

/// Of our operations, those below autograd: bytes, and what is counted of their kernels.
class Ours {
 public:
  Ours() {
    bytes = 0;
    passes.clear();
    handle_ = at::addGlobalCallback(at::RecordFunctionCallback(begin, end)
                                        .needsInputs(true)
                                        .needsOutputs(true)
                                        .scopes({at::RecordScope::FUNCTION}));
  }
  ~Ours() { at::removeCallback(handle_); }
  Ours(const Ours&) = delete;
  Ours& operator=(const Ours&) = delete;

  static inline std::atomic<int64_t> bytes;
  static inline std::multiset<std::string> passes;  ///< which run one after the other

 private:
  static bool is_ours(const at::RecordFunction& function) {
    const std::string_view name = function.name();
    return name.starts_with("fewbit::") && name != "fewbit::activation";
  }
  static void add(const at::Tensor& tensor) {
    if (tensor.defined()) bytes += static_cast<int64_t>(tensor.nbytes());
  }
  static void add(const at::RecordFunction& function, at::ArrayRef<const c10::IValue> values) {
    if (!is_ours(function)) return;
    for (const c10::IValue& value : values) {
      if (value.isTensorList()) {
        for (const at::Tensor& one : value.toTensorVector()) add(one);
      } else if (value.isTensor()) {
        add(value.toTensor());
      }
    }
  }
  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    add(function, function.inputs());
    if (is_ours(function)) passes.insert(test::pass_of(function));
    return nullptr;
  }
  static void end(const at::RecordFunction& function, at::ObserverContext*) {
    for (const c10::IValue& value : function.outputs()) add(function, value);
  }

  at::CallbackHandle handle_;
};

struct StepCounts {
  stand_in::Counts counts;
  int64_t bytes_of_ours;
  std::multiset<std::string> passes;
};

StepCounts settled_step(const SmallNetwork& network, Compressor* compressor) {
  for (int step = 0; step < 3; ++step) network.gradients(compressor);
  const Ours ours;
  stand_in::reset_counts();
  network.gradients(compressor);
  return {stand_in::counts(), Ours::bytes, Ours::passes};
}

/// Of the kernels that are counted, the sum and the names of those that are not.
std::string instructions_of(const std::multiset<std::string>& passes) {
  static const std::map<std::string, double> counted = test::instructions_of_passes();
  double sum = 0.0;
  std::string others;
  for (const std::string& pass : passes) {
    const auto found = counted.find(pass);
    found == counted.end() ? (others += ", " + pass, 0.0) : sum += found->second;
  }
  std::ostringstream text;
  text << std::fixed << std::setprecision(0) << sum << others;
  return text.str();
}

std::string row(const Case& one) {
  const SmallNetwork network = one.network.on(c10::Device(stand_in::kDevice, 0));
  const StepCounts exact = settled_step(network, nullptr);
  Compressor compressor(one.options);
  const auto [counts, bytes_of_ours, passes] = settled_step(network, &compressor);
  const int64_t bytes = counts.bytes_of_operations - exact.counts.bytes_of_operations +
                        counts.bytes_within + bytes_of_ours;
  std::ostringstream text;
  text << "| " << one.what << " | " << counts.launches << " | " << instructions_of(passes) << " | "
       << counts.operations - exact.counts.operations << " | " << bytes / 1024 << " | "
       << counts.bytes_to_host / 1024 << " | " << counts.allocations - exact.counts.allocations
       << " | " << counts.waits << " |\n";
  return text.str();
}

std::string table() {
  std::string text =
      "# A settled step on a device, beyond the exact one\n\n"
      "Each saved tensor has 16,384 elements of float, 64 KiB, unless its row says otherwise. The\n"
      "first operation of each row saves a tensor without a gradient, which stays exact. Bytes "
      "are\n"
      "those of operands and results, once for each operation. Counted on the stand-in by\n"
      "step_counts_test.cpp. *Instructions*: of our kernels together, that a thread of an H100\n"
      "issues for each element of such a tensor\n"
      "([cuda_counts.md](../../bench/results/cuda_counts.md)); class_maps is one block.\n\n"
      "| what runs, how it is stored | our launches | instructions | torch's operations | KiB read "
      "and written | KiB to the host | "
      "allocations | waits of the host |\n|---|---|---|---|---|---|---|---|\n";
  for (const Case& one : cases()) text += row(one);
  return text;
}

TEST(StepCounts, AreThoseOfTheCommittedTable) {
  if (TORCH_VERSION_MAJOR != 2 || TORCH_VERSION_MINOR != 11) {
    GTEST_SKIP() << "the table is of libtorch 2.11, whose operations others split in another way";
  }
  const std::string path = FEWBIT_SOURCE_DIR "/tests/stand_in/step_counts.md";
  std::ifstream file(path);
  std::stringstream committed;
  committed << file.rdbuf();
  const std::string counted = table();
  const std::string copy = testing::TempDir() + "step_counts.md";
  if (counted != committed.str()) std::ofstream(copy) << counted;
  EXPECT_EQ(counted, committed.str()) << copy << " is to be committed as " << path;
}

}  // namespace fewbit::step_counts_test

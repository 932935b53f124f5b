// Data parallelism without Python: two processes, each with half of every batch, average gradients
// by hand through a store of torch's, and save for backward in few bits. libtorch has no
// DistributedDataParallel, and its package leaves out what ProcessGroupGloo's header includes.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/tempfile.h>
#include <sys/wait.h>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/nn.h>
#include <torch/optim/adam.h>
#include <unistd.h>

#include "examples/support/data.hpp"
#include "examples/support/page.hpp"
#include "examples/support/training.hpp"
#include "fewbit/compressor.hpp"

namespace fewbit::examples {
namespace {

constexpr int kProcesses = 2;
constexpr int64_t kBatch = 64;

torch::nn::Sequential network() {
  torch::manual_seed(1);
  return torch::nn::Sequential(torch::nn::Linear(64, 256), torch::nn::GELU(),
                               torch::nn::Linear(256, 256), torch::nn::GELU(),
                               torch::nn::Linear(256, 10));
}

/// The mean of the tensor over all processes; every call has another name.
at::Tensor averaged(c10d::Store& store, int rank, const at::Tensor& tensor,
                    const std::string& name) {
  const auto* bytes = static_cast<const uint8_t*>(tensor.const_data_ptr());
  store.set(name + std::to_string(rank), std::vector<uint8_t>(bytes, bytes + tensor.nbytes()));
  at::Tensor sum = at::zeros_like(tensor);
  for (int other = 0; other < kProcesses; ++other) {  // in the same order everywhere: equal sums
    std::vector<uint8_t> part = store.get(name + std::to_string(other));
    sum += at::from_blob(part.data(), tensor.sizes(), tensor.options());
  }
  return sum / kProcesses;
}

void average_gradients(c10d::Store& store, int rank, const std::vector<at::Tensor>& parameters,
                       int64_t step) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& one : parameters) gradients.push_back(one.grad().flatten());
  const at::Tensor mean =
      averaged(store, rank, at::cat(gradients), "step " + std::to_string(step) + " of ");
  int64_t begin = 0;
  for (const at::Tensor& one : parameters) {
    one.mutable_grad().copy_(mean.slice(0, begin, begin + one.numel()).view_as(one));
    begin += one.numel();
  }
}

struct Trained {
  double percent_right;
  at::Tensor weights;
};

Trained train_part(c10d::Store& store, int rank, std::optional<double> bits, int64_t steps) {
  auto model = network();
  const std::vector<at::Tensor> parameters = model->parameters();
  torch::optim::Adam optimizer(parameters, 1e-3);
  std::optional<Compressor> compressor;
  if (bits) compressor.emplace(CompressorOptions{.bits = *bits}).random_stream(rank);
  const Digits digits = load_digits(FEWBIT_DIGITS_CSV);
  std::mt19937_64 random(3);  // the same batches everywhere, of which each takes its part
  for (int64_t step = 0; step < steps; ++step) {
    const Batch batch = draw_digits(digits, kBatch, random);
    optimizer.zero_grad();
    at::Tensor loss;
    {
      std::optional<CompressionScope> scope;
      if (compressor) scope.emplace(*compressor);
      loss = at::cross_entropy_loss(model->forward(batch.inputs.chunk(kProcesses)[rank]),
                                    batch.targets.chunk(kProcesses)[rank]);
    }
    loss.backward();
    average_gradients(store, rank, parameters, step);
    optimizer.step();
  }
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> weights;
  for (const at::Tensor& one : parameters) weights.push_back(one.flatten());
  return {percent_right(model->forward(digits.test_pictures), digits.test_digits),
          at::cat(weights)};
}

/// What this process has to say; 0: all of it held.
int of_process(const std::string& folder, int rank, int64_t steps) {
  Outcome outcome;
  for (const std::optional<double> bits : {std::optional<double>(), std::optional(2.0)}) {
    const std::string name = bits ? "2 bits" : "exact";
    const auto store = c10::make_intrusive<c10d::FileStore>(folder + "/" + name, kProcesses);
    const Trained trained = train_part(*store, rank, bits, steps);
    const at::Tensor mean = averaged(*store, rank, trained.weights, "weights of ");
    const bool is_equal = mean.equal(trained.weights);
    if (rank > 0) {
      if (!is_equal) return 1;
      continue;
    }
    std::cout << name << ": " << number(trained.percent_right, 4) << " % right\n";
    outcome.expect(is_equal, name + ": processes have the same weights to the bit");
    outcome.expect(trained.percent_right > 90, name + ": it has learned");
  }
  return outcome.exit_code();
}

int distributed(const Arguments& arguments) {
  const int64_t steps = arguments.is_long ? 1000 : 200;
  const c10::TempDir folder = c10::make_tempdir("fewbit_distributed_");
  const pid_t child = fork();  // before torch starts threads
  TORCH_CHECK(child >= 0, "cannot start a second process");
  if (child == 0) std::_Exit(of_process(folder.name, 1, steps));
  const int failed = of_process(folder.name, 0, steps);
  int status = 1;
  waitpid(child, &status, 0);
  std::filesystem::remove_all(folder.name);
  return failed != 0 || status != 0 ? 1 : 0;
}

}  // namespace
}  // namespace fewbit::examples

int main(int count, char** values) {
  return fewbit::examples::run_example(count, values, fewbit::examples::distributed);
}

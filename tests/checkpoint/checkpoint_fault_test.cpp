// What a checkpoint refuses, what it leaves behind, and threads.
#include <atomic>
#include <stdexcept>
#include <thread>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ThreadLocalState.h>
#include <gmock/gmock.h>
#include <torch/nn/functional/dropout.h>

#include "fewbit/checkpoint.hpp"
#include "fewbit/saved_bytes.hpp"
#include "tests/support/autograd_node.hpp"
#include "tests/support/checkpoint_model.hpp"
#include "tests/support/compression_model.hpp"

namespace fewbit::checkpoint_fault_test {

using namespace test;
using testing::HasSubstr;
using torch::autograd::grad;

TEST(CheckpointFault, ExceptionsPassThrough) {
  const at::Tensor x = hidden({3, 4});
  SavedBytes meter;
  const auto fail = [](const at::Tensor& given) -> at::Tensor {
    const at::Tensor y = given.exp();
    throw std::runtime_error("out of data");
  };
  EXPECT_THROW(checkpoint(fail, x), std::runtime_error);
  {
    const auto watch = meter.watch();
    const at::Tensor y = x.exp();
  }
  EXPECT_EQ(meter.unique_bytes(), 3 * 4 * 4);  // no slot: the checkpoint is over

  int runs = 0;
  const auto fail_again = [&](const at::Tensor& given) {
    const at::Tensor y = given.exp();
    if (++runs == 2) throw std::runtime_error("out of data");
    return y.sin();
  };
  const at::Tensor y = checkpoint(fail_again, x);
  EXPECT_THROW(grad({y.sum()}, {x}, {}, true), std::runtime_error);
  expect_equal(grad({y.sum()}, {x}), grad({x.exp().sin().sum()}, {x}));
}

TEST(CheckpointFault, ChangedInputsAreRefused) {
  const auto run = [](const at::Tensor& x) { return x.exp().sin(); };
  for (const bool is_batch : {false, true}) {
    const at::Tensor weight = at::randn({4}).requires_grad_();
    const at::Tensor x = is_batch ? at::randn({3, 4}) : hidden({3, 4});
    const at::Tensor y = checkpoint([&](const at::Tensor& z) { return run(z * weight); }, x);
    x.detach().zero_();
    const std::string error = error_of([&] { grad({y.sum()}, {weight}); });
    EXPECT_THAT(error, HasSubstr("modified by an inplace operation: CPUFloatType [3, 4]"));
  }
  const at::Tensor x = hidden({3, 4});
  EXPECT_THAT(error_of([&] { checkpoint([](const at::Tensor& z) { return z.mul_(2).exp(); }, x); }),
              HasSubstr("fewbit::checkpoint: the function changes input 0 in place, "
                        "CPUFloatType [3, 4]"));
}

TEST(CheckpointFault, ChangedParametersAreRefused) {
  torch::nn::Sequential model(torch::nn::Linear(4, 4), torch::nn::GELU(), torch::nn::Linear(4, 4));
  const at::Tensor x = at::randn({3, 4});  // the first weight is not saved
  for (const size_t changed : {0U, 1U, 2U}) {
    const at::Tensor y = checkpoint([&](const at::Tensor& z) { return model->forward(z); }, x);
    {
      const at::NoGradGuard no_grad;
      model->parameters()[changed].mul_(0.5);
    }
    EXPECT_THAT(error_of([&] { y.sum().backward(); }),
                HasSubstr("has been modified by an inplace operation"));
  }
}

TEST(CheckpointFault, ChangesBehindWhatWasSavedAreRefusedAsWithout) {
  const auto run = [](const at::Tensor& x) {
    const at::Tensor y = x.exp();
    y.add_(1.0);  // backward of exp reads y
    return y.sin();
  };
  const at::Tensor x = hidden({3, 4});
  EXPECT_THROW(grad({run(x).sum()}, {x}), c10::Error);
  EXPECT_THROW(grad({checkpoint(run, x).sum()}, {x}), c10::Error);
}

// A function that does another thing every time.
TEST(CheckpointFault, OtherRunsAreRefused) {
  const std::vector<std::pair<Function, std::string>> others = {
      {[](const at::Tensor& x) { return x.exp(); },
       "saves 1 tensors where the forward saved 2, next aten::sin's Float [3, 4] on cpu"},
      {[](const at::Tensor& x) { return x.exp().slice(1, 0, 2).sin(); },
       "saves aten::sin's Float [3, 2] on cpu as tensor 2 of 2 where the forward saved aten::sin's "
       "Float [3, 4] on cpu"},
      {[](const at::Tensor& x) { return x.to(at::kDouble).exp().sin(); },
       "saves aten::exp's Double [3, 4] on cpu as tensor 1 of 2"},
      {[](const at::Tensor& x) { return x.exp().cos(); },
       "saves aten::cos's Float [3, 4] on cpu as tensor 2 of 2"}};
  for (const auto& other : others) {
    bool is_first = true;
    const auto run = [&](const at::Tensor& x) {
      return std::exchange(is_first, false) ? x.exp().sin() : other.first(x);
    };
    const at::Tensor x = hidden({3, 4});
    const at::Tensor y = checkpoint(run, x);
    EXPECT_THAT(error_of([&] { grad({y.sum()}, {x}); }), HasSubstr(other.second));
  }
}

TEST(CheckpointFault, NothingOutlivesTheGraph) {
  const at::Tensor factor = at::ones({4}).requires_grad_();
  const std::vector<Function> functions = {
      [](const at::Tensor& x) { return x.exp().sin(); },
      [&](const at::Tensor& x) { return x.add_((x * factor).exp()); },  // refused
      [](const at::Tensor& x) -> at::Tensor { throw std::runtime_error(x.exp().toString()); },
      [](const at::Tensor& x) {
        return checkpoint([](const at::Tensor& z) { return z.exp(); }, x);
      }};
  for (const bool is_batch : {false, true}) {
    for (const Function& function : functions) {
      std::weak_ptr<int> held;
      {
        const auto token = std::make_shared<int>(1);
        held = token;
        const at::Tensor weight = at::ones({4}).requires_grad_();
        const at::Tensor x = is_batch ? at::randn({3, 4}) : hidden({3, 4});
        const auto run = [token, weight, &function](const at::Tensor& z) {
          return function(z) * weight;
        };
        try {
          const at::Tensor y = checkpoint(run, x);
          grad({y.sum()}, {weight}, {}, true);
        } catch (const std::exception&) {
        }
      }
      EXPECT_TRUE(held.expired());
    }
  }
}

// What was computed again goes with the operation that took it, or with the pass.
TEST(CheckpointFault, ComputedAgainIsNotKept) {
  std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> seen;
  const auto alive = [&] {
    return std::ranges::count_if(seen, [](const auto& storage) { return !storage.expired(); });
  };
  const auto run = [&](const Tensors& in) {
    seen.clear();
    Tensors kept;
    for (int i = 0; i < 2; ++i) {
      kept.push_back(in[0].exp());
      seen.push_back(kept.back().storage().getWeakStorageImpl());
    }
    return Tensors{kept[0] * 1.0, kept[1] * in[0].exp()};
  };
  const at::Tensor x = hidden({3, 4});
  const Tensors y = checkpoint_list(run, {x});
  EXPECT_EQ(alive(), 0);
  int64_t in_pass = 0;
  y[0].register_hook([&](const at::Tensor& /*gradient*/) { seen.clear(); });
  x.register_hook([&](const at::Tensor& /*gradient*/) { in_pass = alive(); });
  for (const bool retain : {true, true, false}) {
    grad({y[0].sum()}, {x}, {}, retain);
    EXPECT_EQ(in_pass, 1);  // the other one, that nobody asked for
    EXPECT_EQ(alive(), 0);
  }
  grad({y[1].sum()}, {x}, {}, true);
  EXPECT_EQ(in_pass, 0);  // the first one's operation is gone
  EXPECT_EQ(alive(), 0);
}

TEST(CheckpointFault, AGraphThatNeedsItselfIsRefused) {
  Tensors y;
  const at::Tensor x = hidden({3, 4});
  const auto run = [&](const Tensors& in) {
    if (!y.empty()) grad({y[1].sum()}, {x}, {}, true);
    return Tensors{in[0].exp(), in[0].tan()};
  };
  y = checkpoint_list(run, {x});
  EXPECT_THAT(error_of([&] { grad({y[0].sum()}, {x}, {}, true); }), HasSubstr("that needs itself"));
}

TEST(CheckpointFault, BackwardRunsInAnyThread) {
  const auto run_steps = [](uint64_t seed) {
    const auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
    const at::Tensor weight = at::randn({kWidth, kWidth}, generator).div_(8).requires_grad_();
    const auto run = [&](const at::Tensor& x) { return at::mm(x.sin(), weight).tanh(); };
    const at::Tensor x = at::randn({20, kWidth}, generator);
    const at::Tensor loss = run(run(x)).sum();
    const Tensors expected = grad({loss}, {weight});
    at::Tensor other_loss;
    std::thread([&] { other_loss = checkpoint(run, checkpoint(run, x)).sum(); }).join();
    for (int step = 0; step < 5; ++step) {
      expect_equal(grad({other_loss}, {weight}, {}, true), expected);
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i) threads.emplace_back(run_steps, i);
  for (std::thread& thread : threads) thread.join();
}

TEST(CheckpointFault, SeveralThreadsWalkOneGraph) {
  auto model = mlp();
  std::atomic<int> runs = 0;
  const auto run = [&](const at::Tensor& x) {
    ++runs;
    return torch::nn::functional::dropout(model->forward(x).exp());
  };
  const at::Tensor x = hidden({100, kWidth});
  const at::Tensor loss = checkpoint(run, checkpoint(run, x)).sum();
  const auto walk = [&] { return grad({loss}, model->parameters(), {}, true); };
  const Tensors expected = walk();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int step = 0; step < 5; ++step) expect_equal(walk(), expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(runs, 2 + 2 * (1 + 4 * 5));  // once for each pass
}

// A backward pass of a thread that is watched hands its callbacks on to threads of the engine.
TEST(CheckpointFault, RunsInThreadsThatWorkForAWatchedOne) {
  auto model = mlp();
  const auto run = [&](const at::Tensor& x) { return model->forward(x).exp(); };
  const at::Tensor x = hidden({100, kWidth});
  SavedBytes meter;
  const auto watch = meter.watch();
  const at::Tensor loss = checkpoint(run, x).sum();
  const Tensors expected = grad({run(x).sum()}, model->parameters());
  const at::ThreadLocalState state;
  Tensors found;
  std::thread([&] {
    const at::ThreadLocalStateGuard guard(state);
    found = grad({loss}, model->parameters());
  }).join();
  expect_equal(found, expected);
}

}  // namespace fewbit::checkpoint_fault_test

// When a watch sees what, and that it leaves no trace.
#include <stdexcept>
#include <thread>
#include <vector>

#include <ATen/SavedTensorHooks.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/engine.h>

#include "fewbit/saved_bytes.hpp"
#include "tests/support/autograd_node.hpp"

namespace saved_bytes_watch_test {

using fewbit::SavedBytes;
using fewbit::test::hidden;
using torch::autograd::Engine;

constexpr std::int64_t kBytes = 16 * 8 * 4;  // of x below

bool libtorchs_engine_runs() {
  return &Engine::get_default_engine() == &Engine::get_base_engine();
}

TEST(SavedBytesWatch, SeesNothingOutside) {
  const at::Tensor x = hidden({16, 8});
  SavedBytes meter;
  const at::Tensor before = at::gelu(x);
  { const auto watch = meter.watch(); }
  const at::Tensor after = at::gelu(x);
  EXPECT_TRUE(meter.entries().empty());
  EXPECT_TRUE(libtorchs_engine_runs());
}

TEST(SavedBytesWatch, InnerMeterSeesItsPartAndTheOuterAll) {
  const at::Tensor x = hidden({16, 8}), z = hidden({16, 8});
  SavedBytes outer, inner;
  at::Tensor a, b, c;
  {
    const auto all = outer.watch();
    a = at::gelu(x);
    {
      const auto part = inner.watch();
      b = at::gelu(z);
    }
    c = at::silu(z);
  }
  EXPECT_EQ(outer.unique_bytes(), 2 * kBytes);
  EXPECT_EQ(outer.entries().size(), 3);
  EXPECT_EQ(inner.unique_bytes(), kBytes);
  EXPECT_EQ(inner.entries().size(), 1);
  EXPECT_TRUE(libtorchs_engine_runs());
}

TEST(SavedBytesWatch, OneMeterWatchingTwiceCountsOnce) {
  const at::Tensor x = hidden({16, 8});
  SavedBytes meter;
  const auto first = meter.watch();
  at::Tensor y;
  {
    const auto second = meter.watch();
    y = at::gelu(x);
  }
  EXPECT_EQ(meter.entries().size(), 1);
  const at::Tensor z = at::silu(x);
  EXPECT_EQ(meter.entries().size(), 2) << "the first watch is still open";
}

TEST(SavedBytesWatch, EveryThreadHasItsOwn) {
  constexpr int kThreads = 6;
  const at::Tensor x = hidden({16, 8});
  std::vector<SavedBytes> meters(kThreads);
  SavedBytes common;
  std::vector<at::Tensor> results(2 * kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        const bool meters_this = i % 2 == 0;
        if (meters_this) {
          const auto own = meters[i].watch();
          const auto shared = common.watch();
          results[i] = at::gelu(x);
        } else {
          results[i] = at::gelu(x);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kThreads; ++i) {
    EXPECT_EQ(meters[i].unique_bytes(), i % 2 == 0 ? kBytes : 0) << i;
  }
  EXPECT_EQ(common.unique_bytes(), kBytes);
  EXPECT_TRUE(libtorchs_engine_runs());
}

TEST(SavedBytesWatch, ExceptionsInsideLeaveNoTrace) {
  const at::Tensor x = hidden({16, 8});
  SavedBytes meter;
  const auto fail = [&] {
    const auto watch = meter.watch();
    const at::Tensor y = at::gelu(x);
    return y.matmul(y);  // shapes do not fit
  };
  EXPECT_THROW(fail(), c10::Error);
  EXPECT_TRUE(libtorchs_engine_runs());
  meter.reset();
  at::Tensor y = at::gelu(x);
  EXPECT_TRUE(meter.entries().empty());
  const auto watch = meter.watch();
  y = at::silu(x);
  ASSERT_EQ(meter.entries().size(), 1);
  EXPECT_EQ(meter.entries()[0].operation, "SiluBackward0");
}

TEST(SavedBytesWatch, HoldsNoMemoryOfADeadGraph) {
  SavedBytes meter;
  const auto watch = meter.watch();
  const auto weak = [&] {
    const at::Tensor x = hidden({16, 8});
    const at::Tensor y = at::gelu(x);
    return x.storage().getWeakStorageImpl();
  }();
  EXPECT_TRUE(weak.expired());
  EXPECT_EQ(meter.unique_bytes(), kBytes) << "what was kept at most";

  at::Tensor x = hidden({16, 8});
  const auto freed = x.storage().getWeakStorageImpl();
  const at::Tensor y = at::gelu(x);
  x.reset();
  EXPECT_FALSE(freed.expired());
  y.sum().backward();
  EXPECT_TRUE(freed.expired()) << "backward lets go";
}

// Holding the output with its history would make the operation hold itself for ever.
TEST(SavedBytesWatch, HoldsNoOperationThatKeepsItsOwnOutput) {
  SavedBytes meter;
  const auto watch = meter.watch();
  for (const bool in_place : {false, true}) {
    at::Tensor y = hidden({16, 8});
    y = in_place ? y.sigmoid_() : at::sigmoid(y);
    const auto weak = y.storage().getWeakStorageImpl();
    EXPECT_FALSE(weak.expired());
    y.reset();
    EXPECT_TRUE(weak.expired()) << in_place;

    at::Tensor base = hidden({16, 8});
    const auto whole = base.storage().getWeakStorageImpl();
    base.narrow(0, 0, 4).sigmoid_();
    base.reset();
    EXPECT_TRUE(whole.expired()) << "through a view";
  }
}

TEST(SavedBytesWatch, GraphMayOutliveItsMeter) {
  const at::Tensor x = hidden({16, 8});
  at::Tensor y;
  {
    SavedBytes meter;
    const auto watch = meter.watch();
    y = at::gelu(x);
  }
  EXPECT_NO_THROW(y.sum().backward());
}

struct Square : torch::autograd::Function<Square> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x) {
    context->save_for_backward({x});
    return x * x;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& grads) {
    return {2 * context->get_saved_variables()[0] * grads[0]};
  }
};

TEST(SavedBytesWatch, CustomFunctionsAreNamedByWhatUsesTheirOutput) {
  const at::Tensor x = hidden({16, 8});
  SavedBytes meter;
  const auto watch = meter.watch();
  const at::Tensor y = Square::apply(x);
  EXPECT_EQ(meter.entries().at(0).operation, "custom function");
  const at::Tensor z = y + 1.0;  // keeps nothing
  EXPECT_EQ(meter.entries().size(), 1);
  EXPECT_NE(meter.entries()[0].operation.find("Square"), std::string::npos);
  EXPECT_EQ(meter.unique_bytes(), kBytes);
}

class OtherEngine : public Engine {};

Engine& other_engine() {
  static OtherEngine* const engine = new OtherEngine;
  return *engine;
}

TEST(SavedBytesWatch, RefusesToReplaceAnotherEngine) {
  torch::autograd::set_default_engine_stub(&other_engine);
  SavedBytes meter;
  try {
    const auto watch = meter.watch();
    ADD_FAILURE() << "a watch opened";
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("OtherEngine"), std::string::npos) << error.what();
  }
  EXPECT_EQ(&Engine::get_default_engine(), &other_engine());
  torch::autograd::set_default_engine_stub(&Engine::get_base_engine);
  EXPECT_NO_THROW({ const auto watch = meter.watch(); });
}

TEST(SavedBytesWatch, LeavesAnEngineAloneThatCameMeanwhile) {
  SavedBytes meter;
  {
    const auto watch = meter.watch();
    torch::autograd::set_default_engine_stub(&other_engine);
  }
  EXPECT_EQ(&Engine::get_default_engine(), &other_engine());
  torch::autograd::set_default_engine_stub(&Engine::get_base_engine);
}

TEST(SavedBytesWatch, RefusesWhereHooksAreDisabled) {
  at::SavedTensorDefaultHooks::disable("a reason of its own");
  SavedBytes meter;
  try {
    const auto watch = meter.watch();
    ADD_FAILURE() << "a watch opened";
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("a reason of its own"), std::string::npos);
  }
  at::SavedTensorDefaultHooks::enable();
}

}  // namespace saved_bytes_watch_test

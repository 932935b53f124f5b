// Several users of the tensors that autograd saves: who replaces, who is told what, and what
// backward sees.
#include "runtime/trace/saved_tensors.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "fewbit/saved_bytes.hpp"
#include "tests/support/autograd_node.hpp"

namespace saved_tensors_test {

using fewbit::SavedBytes;
using fewbit::session::Keeping;
using fewbit::session::PackedTensor;
using fewbit::session::RecordedCall;
using fewbit::session::SavedTensorUse;
using fewbit::session::SavedTensorUser;
using fewbit::session::SaveEvent;
using fewbit::test::hidden;

// Half of the digits, kept in a tensor, beside one that remembers the type.
class Halved final : public PackedTensor {
 public:
  explicit Halved(const at::Tensor& tensor)
      : parts_{tensor.to(at::kBFloat16), at::empty({0}, tensor.options())} {}
  at::Tensor restored() const override { return parts_[0].to(parts_[1].scalar_type()); }
  at::TensorList tensors() const override { return parts_; }

 private:
  std::vector<at::Tensor> parts_;
};

// Replaces what one operation saves.
class Halver final : public SavedTensorUser {
 public:
  explicit Halver(std::string operation) : operation_(std::move(operation)) {}

  std::unique_ptr<const PackedTensor> replace(const at::Tensor& tensor,
                                              const SaveEvent& event) override {
    EXPECT_FALSE(at::GradMode::is_enabled());
    if (event.facts.operation != operation_ || event.facts.parameter) return nullptr;
    ++replaced;
    return std::make_unique<Halved>(tensor);
  }
  Keeping keep(const SaveEvent& /*event*/) override {
    ++told;
    return std::make_shared<int>();
  }

  int replaced = 0;
  int told = 0;

 private:
  std::string operation_;
};

at::Tensor gradient(const at::Tensor& y, const at::Tensor& x) {
  return torch::autograd::grad({y.sum()}, {x})[0];
}

TEST(SavedTensors, TheMeterShowsWhatIsKeptInPlaceOfATensor) {
  const at::Tensor x = hidden({32, 16});
  const auto halver = std::make_shared<Halver>("aten::exp");
  for (const bool meter_is_outside : {true, false}) {
    SCOPED_TRACE(meter_is_outside);
    SavedBytes meter;
    at::Tensor y;
    const auto run = [&] { y = at::exp(x); };
    if (meter_is_outside) {
      const auto watch = meter.watch();
      const SavedTensorUse use("test", halver);
      run();
    } else {
      const SavedTensorUse use("test", halver);
      const auto watch = meter.watch();
      run();
    }
    EXPECT_EQ(meter.unique_bytes(), 32 * 16 * 2);
    const auto entries = meter.entries();
    ASSERT_EQ(entries.size(), 2);
    EXPECT_EQ(entries[0].operation, "ExpBackward0");
    EXPECT_EQ(entries[0].maker, "ExpBackward0");
    EXPECT_EQ(entries[0].dtype, at::kBFloat16);
    EXPECT_FALSE(entries[0].is_output);
    EXPECT_TRUE(at::equal(gradient(y, x), y.detach().to(at::kBFloat16).to(at::kFloat)));
    y.reset();
    meter.reset();
  }
  EXPECT_EQ(halver->replaced, 2);
}

TEST(SavedTensors, TheLatestUserThatReplacesDoesAndAllAreTold) {
  const at::Tensor x = hidden({32, 16});
  const auto outer = std::make_shared<Halver>("aten::exp");
  const auto inner = std::make_shared<Halver>("aten::exp");
  const auto other = std::make_shared<Halver>("aten::sin");
  const SavedTensorUse outermost("test", outer);
  const SavedTensorUse innermost("test", inner);
  const SavedTensorUse bystander("test", other);
  const SavedTensorUse again("test", inner);
  const at::Tensor y = at::exp(x);
  EXPECT_EQ(outer->replaced, 0);
  EXPECT_EQ(inner->replaced, 1);
  for (const auto& user : {outer, inner, other}) EXPECT_EQ(user->told, 2) << "two parts, each once";
}

TEST(SavedTensors, ChangesInPlaceAreRefusedUnlessTheTensorWasReplaced) {
  const at::Tensor x = hidden({32, 16});
  const auto halver = std::make_shared<Halver>("aten::exp");
  const SavedTensorUse use("test", halver);
  at::Tensor y = at::exp(x);
  const at::Tensor before = y.detach().clone();
  y.detach().zero_();
  EXPECT_TRUE(at::equal(gradient(y, x), before.to(at::kBFloat16).to(at::kFloat)));
  y = at::tanh(x);
  y.detach().zero_();
  EXPECT_THROW(gradient(y, x), c10::Error);
}

TEST(SavedTensors, GraphsOutliveTheirUsersAndUnpackAsOftenAsAsked) {
  const at::Tensor x = hidden({32, 16});
  at::Tensor y;
  {
    const SavedTensorUse use("test", std::make_shared<Halver>("aten::exp"));
    y = at::exp(x);
  }
  const auto twice = [&] {
    return torch::autograd::grad({y.sum()}, {x}, {}, /*retain_graph=*/true)[0];
  };
  EXPECT_TRUE(at::equal(twice(), twice()));
}

// Hears of all calls, and stumbles over one.
class Hearer final : public SavedTensorUser {
 public:
  Keeping keep(const SaveEvent& /*event*/) override { return nullptr; }
  bool holds(std::string_view /*operation*/) const override { return true; }
  void start_call(const RecordedCall& call) override {
    ++heard;
    TORCH_CHECK(call.operation != "aten::sin", "stumbled over sin");
  }
  void end_call(const RecordedCall& /*call*/) override { ++heard; }

  int heard = 0;
};

TEST(SavedTensors, NobodyHearsOfCallsWithoutNumbers) {
  const auto hearer = std::make_shared<Hearer>();
  const SavedTensorUse use("test", hearer);
  const at::Tensor meta = at::empty({4, 4}, at::TensorOptions().device(at::kMeta)),
                   ones = at::ones({4, 4});
  const int before = hearer->heard;
  at::mul(meta, meta);
  at::cat({meta, meta});
  EXPECT_EQ(hearer->heard, before);
  at::mul(ones, ones);
  EXPECT_EQ(hearer->heard, before + 2);
}

TEST(SavedTensors, WhatAUserThrowsInACallIsThrownAtTheNextSavedTensor) {
  const at::Tensor x = hidden({4, 4});
  {
    const auto hearer = std::make_shared<Hearer>();
    const SavedTensorUse use("test", hearer);
    at::Tensor y;
    EXPECT_NO_THROW(y = at::sin(x.detach()));
    EXPECT_THROW(at::exp(x), c10::Error);
    EXPECT_NO_THROW(at::exp(x));  // once
  }
  EXPECT_NO_THROW(at::exp(x));
}

}  // namespace saved_tensors_test

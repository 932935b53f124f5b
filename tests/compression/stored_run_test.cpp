#include "compression/stored_run.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/refusal.hpp"

namespace fewbit::stored_run_test {

using test::refusal;

class Plain final : public codecs::Encoded {
 public:
  explicit Plain(const at::Tensor& run) : run_(run) {}
  at::Tensor decoded() const override { return run_; }
  at::TensorList tensors() const override { return run_; }

 private:
  at::Tensor run_;
};

TEST(StoredRun, IsItselfUntilItIsCoded) {
  const at::Tensor x = at::arange(6, at::kFloat).view({2, 3}), codes = at::ones({6});
  session::StoredRun run(x);
  int told = 0;
  run.when_changed([&] { ++told; });
  EXPECT_FALSE(run.is_settled());
  EXPECT_TRUE(at::equal(run.decoded(), at::arange(6, at::kFloat)));
  EXPECT_NE(run.decoded().data_ptr(), x.data_ptr());
  EXPECT_EQ(run.tensors()[0].data_ptr(), x.data_ptr());
  run.settle(std::make_shared<Plain>(codes));
  EXPECT_TRUE(run.is_settled());
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(run.decoded().is_same(codes));
  EXPECT_TRUE(run.tensors()[0].is_same(codes));
}

TEST(StoredRun, IsWhatAViewShowsOnceItIsHeld) {
  const at::Tensor all = at::arange(12, at::kFloat).view({3, 4});
  const at::Tensor view = all.narrow(1, 1, 2);
  session::StoredRun run(std::make_shared<Plain>(at::zeros({6})));
  int told = 0;
  run.when_changed([&] { ++told; });
  run.hold(view);
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(at::equal(run.decoded(), view.contiguous().view(-1)));
  EXPECT_EQ(run.tensors()[0].data_ptr(), view.data_ptr());
  run.forget_listeners();
  run.hold(view);
  EXPECT_EQ(told, 1);
}

TEST(StoredRun, RefusesWhatWasChanged) {
  const at::Tensor x = at::ones({6});
  const session::StoredRun run(x);
  x.zero_();
  EXPECT_THAT(refusal([&] { run.decoded(); }),
              testing::HasSubstr("it is at version 2; expected version 1"));
}

}  // namespace fewbit::stored_run_test

// Every allocation of a training step fails once: the error comes out, nothing stays behind, and
// the next step is right.

#include <atomic>

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include "fewbit/fewbit.hpp"

namespace fewbit::out_of_memory_test {

/// Torch's allocator of the CPU, but for one call that finds no memory. Counts what is alive.
class FailingAllocator : public c10::Allocator {
 public:
  FailingAllocator() : real_(c10::GetCPUAllocator()) { c10::SetCPUAllocator(this); }
  ~FailingAllocator() override { c10::SetCPUAllocator(real_); }

  /// The call that fails, counted from 1 and from now on; 0: none.
  void fail_at(int64_t call) {
    calls_ = 0;
    fails_ = call;
  }
  bool has_failed() const { return fails_ != 0 && calls_ >= fails_; }
  static int64_t alive() { return alive_; }

  c10::DataPtr allocate(size_t bytes) override {
    TORCH_CHECK_WITH(OutOfMemoryError, ++calls_ != fails_, "no memory");
    c10::DataPtr memory = real_->allocate(bytes);
    if (memory.get() == nullptr) return memory;
    ++alive_;
    auto* owner = new c10::DataPtr(std::move(memory));
    return {owner->get(), owner, &release, at::kCPU};
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    real_->copy_data(to, from, bytes);
  }

 private:
  static void release(void* owner) {
    delete static_cast<c10::DataPtr*>(owner);
    --alive_;
  }

  c10::Allocator* real_;
  int64_t calls_ = 0;
  int64_t fails_ = 0;
  static inline std::atomic<int64_t> alive_ = 0;
};

/// Runs `gradient` with each of its allocations failing in turn; returns how many there were.
template <class Gradient>
int64_t survived(const Gradient& gradient) {
  const at::Tensor expected = gradient();  // also makes what is made once
  FailingAllocator allocator;
  for (int64_t call = 1;; ++call) {
    allocator.fail_at(call);
    bool thrown = false;
    try {
      gradient();
    } catch (const c10::OutOfMemoryError&) {
      thrown = true;
    }
    EXPECT_EQ(thrown, allocator.has_failed()) << call;
    EXPECT_EQ(FailingAllocator::alive(), 0) << call;
    allocator.fail_at(0);
    EXPECT_TRUE(at::equal(gradient(), expected)) << call;
    EXPECT_EQ(ActivationScope::current(), nullptr);
    if (!thrown) return call - 1;
  }
}

at::Tensor leaf() {
  return at::empty({64, 32}).fill_(0.3).requires_grad_();
}

TEST(OutOfMemory, InForwardAndBackwardLeavesNothingBehind) {
  const int64_t allocations = survived([] {
    const at::Tensor x = leaf();
    gelu(x, Bits{3}).sum().backward();  // the gradient of sum is expanded: it is copied
    return x.grad();
  });
  EXPECT_GE(allocations, 5);  // x, y, codes, the laid out gradient, dx
}

TEST(OutOfMemory, OfTransposedInputsAndGradientsLeavesNothingBehind) {
  survived([] {
    const at::Tensor x = leaf();
    const at::Tensor y =
        activation(x.slice(1, 0, 31, 2), Table::builtin("silu", "levels_normal_b4"));
    y.square().t().sum().backward();
    return x.grad();
  });
}

TEST(OutOfMemory, OfAnUnbiasedTableLeavesNothingBehind) {
  const Table table = Table::builtin("gelu", "unbiased_normal_b2");
  survived([&] {
    const at::Tensor x = leaf();
    activation(x, table, at::detail::createCPUGenerator(3)).sum().backward();
    return x.grad();
  });
}

TEST(OutOfMemory, InsideAScopeAlsoInPlaceLeavesNothingBehind) {
  survived([] {
    const ActivationScope scope({.bits = 2});
    const at::Tensor x = leaf();
    at::Tensor hidden = x * 2;
    at::silu_(hidden);
    at::gelu(hidden).sum().backward();
    return x.grad();
  });
}

}  // namespace fewbit::out_of_memory_test

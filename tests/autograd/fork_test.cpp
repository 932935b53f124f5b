#include <cstdlib>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fewbit/fewbit.hpp"

/// Read by LeakSanitizer where it is linked: a child lacks the threads that hold libtorch's pool.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:caffe2::pthreadpool\n";
}

namespace fewbit::fork_test {

at::Tensor gradient() {
  at::Tensor x = at::linspace(-4, 4, 1 << 20).requires_grad_();
  gelu(x, Bits{3}).sum().backward();
  return x.grad();
}

/// How a child ends that does `work` and leaves by exit; -1 after half a minute.
template <class Work>
int status_of_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    std::exit(work() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// As a data loader does: libtorch asks for one thread in a forked process, whatever runs there.
TEST(Fork, ChildOfAProcessThatUsedAllThreadsComputesTheSameAndExits) {
  at::set_num_threads(4);
  const at::Tensor expected = gradient();
  for (int child = 0; child < 3; ++child) {
    EXPECT_EQ(status_of_child([&] {
                at::set_num_threads(1);
                return at::equal(gradient(), expected);
              }),
              0);
  }
  EXPECT_TRUE(at::equal(gradient(), expected)) << "the parent goes on with all its threads";
}

TEST(Fork, ChildMayFitATableAndUseAScope) {
  gradient();
  EXPECT_EQ(status_of_child([] {
              at::set_num_threads(1);
              const at::Tensor x = at::randn({100}).requires_grad_();
              ActivationScope scope({.bits = 3});
              scope.rule("elu", Bits{3});
              at::elu(x, 0.123).sum().backward();
              return scope.entries().at(0).replaced && x.grad().defined();
            }),
            0);
}

}  // namespace fewbit::fork_test

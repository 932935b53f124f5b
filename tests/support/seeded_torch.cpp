#include <ATen/Context.h>
#include <gtest/gtest.h>

// Every case of a test of libtorch draws the same numbers in every run: libtorch's own generator
// starts from what the system gives. --gtest_random_seed=N draws others.
namespace fewbit::test {
namespace {

class Seeded : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& /*test*/) override {
    at::manual_seed(static_cast<uint64_t>(GTEST_FLAG_GET(random_seed)));
  }
};

[[maybe_unused]] const bool listens = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Seeded);  // which gtest deletes
  return true;
}();

}  // namespace
}  // namespace fewbit::test

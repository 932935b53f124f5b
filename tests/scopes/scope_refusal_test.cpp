// Kinds of tensors that the few-bit operation does not take: torch's own does, as outside.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "fewbit/fewbit.hpp"
#include "tests/support/autograd_node.hpp"

namespace fewbit::scope_refusal_test {

using test::is_few_bit;

void expect_left_alone(const ActivationScope& scope, const std::string& reason) {
  ASSERT_FALSE(scope.entries().empty());
  for (const auto& entry : scope.entries()) {
    EXPECT_FALSE(entry.replaced);
    EXPECT_EQ(entry.outcome, reason);
  }
  EXPECT_NE(scope.report().find("left alone: " + reason), std::string::npos);
}

/// A number of forward-mode differentiation as long as it lives.
struct DualLevel {
  uint64_t number = torch::autograd::forward_ad::enter_dual_level();
  DualLevel() = default;
  DualLevel(const DualLevel&) = delete;
  DualLevel& operator=(const DualLevel&) = delete;
  ~DualLevel() { torch::autograd::forward_ad::exit_dual_level(number); }
};

TEST(ScopeRefusal, NestedTensorsAreTorchs) {
  const at::Tensor a = at::randn({2, 5}).requires_grad_();
  const at::Tensor b = at::randn({3, 5}).requires_grad_();
  const ActivationScope scope;
  const at::Tensor y = at::gelu(at::_nested_tensor_from_tensor_list({a, b}));
  EXPECT_TRUE(y.is_nested());
  EXPECT_TRUE(at::equal(y.unbind()[1], at::gelu(b.detach())));
  at::Tensor x = at::_nested_tensor_from_tensor_list({a, b});
  EXPECT_NO_THROW(at::relu_(x));
  EXPECT_FALSE(scope.entries()[0].replaced);
  EXPECT_EQ(scope.entries()[0].outcome, "layout not strided");
}

TEST(ScopeRefusal, ForwardModeDifferentiationIsTorchs) {
  const DualLevel level;
  const at::Tensor primal = at::randn({7});
  const at::Tensor tangent = at::randn({7});
  const at::Tensor x = at::_make_dual(primal.clone().requires_grad_(), tangent, 0);
  const at::Tensor expected = at::gelu(x)._fw_grad(0);
  const ActivationScope scope;
  EXPECT_TRUE(at::equal(at::gelu(x)._fw_grad(0), expected));
  at::Tensor in_place = x * 1.0;
  EXPECT_NO_THROW(at::silu_(in_place));
  expect_left_alone(scope, "forward-mode differentiation");
}

TEST(ScopeRefusal, NamesOfDimensionsGoOn) {
  const auto names = std::vector<at::Dimname>{at::Dimname::fromSymbol(at::Symbol::dimname("N")),
                                              at::Dimname::fromSymbol(at::Symbol::dimname("C"))};
  const at::Tensor x = at::randn({2, 3}, names).requires_grad_();
  ActivationScope scope;
  scope.rule("relu", Bits{1}).rule("tanh", Bits{2});
  EXPECT_EQ(at::relu(x).names(), x.names());
  EXPECT_EQ(at::tanh(x).names(), x.names());
  expect_left_alone(scope, "has named dimensions");
}

TEST(ScopeRefusal, SparseAndComplexTensorsAreTorchs) {
  ActivationScope scope;
  scope.rule("relu", Bits{1}).rule("tanh", Bits{2});
  EXPECT_TRUE(at::relu(at::eye(3).to_sparse().requires_grad_()).is_sparse());
  EXPECT_TRUE(at::tanh(at::randn({3}, at::kComplexFloat).requires_grad_()).is_complex());
  for (const auto& entry : scope.entries()) EXPECT_FALSE(entry.replaced) << entry.outcome;
}

TEST(ScopeRefusal, LazyConjugatesNegativesAndZerosWork) {
  const at::Tensor z = at::randn({4, 3}, at::kComplexFloat).requires_grad_();
  const ActivationScope scope;
  for (const at::Tensor& x : {at::imag(z.conj()), at::_neg_view(at::randn({5}).requires_grad_()),
                              at::_efficientzerotensor({4}).requires_grad_()}) {
    const at::Tensor y = at::gelu(x);
    EXPECT_TRUE(is_few_bit(y));
    EXPECT_TRUE(at::allclose(y, at::gelu(x.detach()), 1e-5, 1e-6));
    EXPECT_NO_THROW(y.sum().backward());
  }
}

}  // namespace fewbit::scope_refusal_test

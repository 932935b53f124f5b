// Gradients where a coded tensor is divided by, changed, or shared with what nobody expects.
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/custom_function.h>

#include "tests/compression/primitive_losses.hpp"
#include "tests/compression/recompute_network.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::faithful_gradients_test {

using namespace test;
using torch::autograd::grad;

// Without a rule nothing that such losses divide by is coded, in however few bits.
TEST(FaithfulGradients, OfLossesThatDivideByTheirActivations) {
  std::vector<NamedLoss> losses;
  for (const auto* some :
       {&losses_of_gates(), &losses_of_sums(), &losses_of_squares(), &losses_of_probabilities()}) {
    losses.insert(losses.end(), some->begin(), some->end());
  }
  for (const auto& [name, loss, most] : losses) {
    for (const double scale : {0.1, 1.0, 2.0, 4.0, 8.0}) {
      at::manual_seed(31);
      const at::Tensor x = (at::randn({64, 64}) * scale).requires_grad_();
      const at::Tensor y = at::randint(2, {64, 64}).to(at::kFloat);
      const at::Tensor exact = grad({loss(x * 1.0, y)}, {x})[0];
      for (const double bits : {2.0, 8.0}) {
        Compressor compressor({.bits = bits});
        at::Tensor value;
        {
          const CompressionScope scope(compressor);
          value = loss(x * 1.0, y);
        }
        const double error = distance(grad({value}, {x})[0], exact);
        // Products alone are coded: as well as their bits allow.
        EXPECT_LT(error, bits == 2.0 ? most : most / 30.0)
            << name << ", logits of deviation " << scale << ", " << bits << " bits\n"
            << compressor.report();
      }
    }
  }
}

// Relative to itself, however small it is beside the probability of the true class.
TEST(FaithfulGradients, OfConfidentCrossEntropy) {
  for (const int64_t classes : {10, 64, 1000}) {
    for (const double confidence : {0.0, 4.0, 8.0, 12.0, 16.0}) {
      at::manual_seed(32);
      const at::Tensor labels = at::randint(classes, {256}, at::kLong);
      const at::Tensor logits =
          at::randn({256, classes})
              .scatter_add_(1, labels.unsqueeze(1), at::full({256, 1}, confidence))
              .requires_grad_();
      const at::Tensor exact = grad({at::cross_entropy_loss(logits * 1.0, labels)}, {logits})[0];
      for (const int bits : {2, 4}) {
        Compressor compressor({.bits = static_cast<double>(bits)});
        at::Tensor loss;
        {
          const CompressionScope scope(compressor);
          loss = at::cross_entropy_loss(logits * 1.0, labels);
        }
        EXPECT_LT(distance(grad({loss}, {logits})[0], exact), bits == 2 ? 0.45 : 0.15)
            << classes << " classes, " << confidence << ", " << bits << " bits\n"
            << compressor.report();
      }
    }
  }
}

TEST(FaithfulGradients, OfAParameterThroughSoftplusFarOut) {
  const at::Tensor rho = at::full({64, 64}, -5.0).requires_grad_();
  for (const double bits : {2.0, 8.0}) {
    Compressor compressor({.bits = bits});
    at::Tensor y;
    {
      const CompressionScope scope(compressor);
      y = at::softplus(rho * 1.0).sum();
    }
    const at::Tensor exact = at::sigmoid(rho.detach());
    EXPECT_LT(distance(grad({y}, {rho})[0], exact), 1e-6) << bits;
  }
}

// Optimisers change parameters through data(), which no version tells.
TEST(FaithfulGradients, WhateverAnOptimiserChangesBeforeBackward) {
  at::manual_seed(33);
  const at::Tensor first = parameter({64, 64}), second = parameter({64, 64}),
                   gamma = parameter({64}), beta = parameter({64});
  const at::Tensor x = at::randn({200, 64}).requires_grad_();
  const auto forward = [&] {
    const at::Tensor y = at::layer_norm(at::linear(x * 1.0, first), {64}, gamma, beta);
    return at::linear(at::linear(y, second), first).sum();
  };
  const auto behind_the_norm = [&](const at::Tensor& loss) { return grad({loss}, {second})[0]; };
  const at::Tensor exact = behind_the_norm(forward());
  Compressor compressor({.bits = 8});
  for (int step = 0; step < 3; ++step) {
    at::Tensor loss;
    {
      const CompressionScope scope(compressor);
      loss = forward();
    }
    gamma.data().mul_(3.0);
    beta.data().add_(1.0);
    EXPECT_LT(distance(behind_the_norm(loss), exact), 0.02) << step << '\n' << compressor.report();
    gamma.data().div_(3.0);
    beta.data().sub_(1.0);
  }
}

TEST(FaithfulGradients, RefuseALayersWeightThatChangedBeforeItsOutputIsComputedAgain) {
  at::manual_seed(34);
  const at::Tensor first = parameter({64, 64}), second = parameter({64, 64});
  const at::Tensor x = at::randn({200, 64}).requires_grad_();
  Compressor compressor({.bits = 2});
  compressor.recompute("linear", Recompute::always);
  at::Tensor loss;
  {
    const CompressionScope scope(compressor);
    loss = at::mm(at::mm(x * 1.0, first), second).sum();
  }
  first.data()[3][5] += 1e-3;
  EXPECT_THAT(refusal([&] { grad({loss}, {second}); }),
              testing::HasSubstr("recomputation 'linear' computes by it again"));
  const at::Tensor packed = parameter({64, 192});
  {
    const CompressionScope scope(compressor);
    loss = at::mm(at::mm(x * 1.0, packed.narrow(1, 64, 64)), second).sum();
  }
  packed.data()[3][70] += 1e-3;
  EXPECT_THAT(refusal([&] { grad({loss}, {second}); }),
              testing::HasSubstr("recomputation 'linear' computes by it again"));
}

/// Negates its argument in place, by an operation or behind libtorch's back.
struct Negate : torch::autograd::Function<Negate> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, at::Tensor x,
                            bool by_pointer) {
    if (by_pointer) {
      auto* elements = x.data_ptr<float>();
      for (int64_t i = 0; i < x.numel(); ++i) elements[i] = -elements[i];
    } else {
      x.neg_();
    }
    context->mark_dirty({x});
    return x;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* /*context*/,
                                                 torch::autograd::variable_list dy) {
    return {-dy[0], at::Tensor()};
  }
};

TEST(FaithfulGradients, WhereACustomFunctionChangesTheInputOfANorm) {
  for (const bool by_pointer : {false, true}) {
    at::manual_seed(35);
    const at::Tensor weight = parameter({16, 3, 3, 3}), gamma = parameter({16}),
                     beta = parameter({16});
    const at::Tensor pictures = at::randn({8, 3, 12, 12}).requires_grad_();
    const auto forward = [&](bool changes) {
      const at::Tensor x = at::conv2d(pictures, weight, {}, 1, 1);
      const at::Tensor y =
          at::batch_norm(x, gamma, beta, at::zeros({16}), at::ones({16}), true, 0.1, 1e-5, false);
      if (changes) Negate::apply(x, by_pointer);
      return at::relu(y).sum();
    };
    const at::Tensor exact = grad({forward(false)}, {gamma})[0];
    Compressor compressor({.bits = 8});
    at::Tensor loss;
    {
      const CompressionScope scope(compressor);
      loss = forward(true);
    }
    if (by_pointer) {  // as libtorch does
      EXPECT_THAT(refusal([&] { grad({loss}, {gamma}); }),
                  testing::HasSubstr("modified by an inplace operation"));
    } else {
      EXPECT_LT(distance(grad({loss}, {gamma})[0], exact), 0.02);
    }
  }
}

TEST(FaithfulGradients, AScopeThatEndsInAnotherThreadCodesNothingMore) {
  Compressor compressor({.bits = 2});
  auto scope = std::make_unique<CompressionScope>(compressor);
  auto model = mlp();
  const at::Tensor x = input();
  loss_of(model, x);
  const size_t sites = compressor.sites().size();
  EXPECT_GT(sites, 0U);
  std::thread([&] { scope.reset(); }).join();
  const std::string report = compressor.report();
  const at::Tensor inside = gradients(model, x, nullptr);
  EXPECT_EQ(compressor.report(), report);
  std::thread([&] {
    auto fresh = mlp();
    EXPECT_TRUE(at::equal(inside, gradients(fresh, x, nullptr)));
  }).join();
  gradients(model, x, &compressor);  // and it goes on in a scope of its own
  EXPECT_EQ(compressor.sites().front().count, 2);
}

// Whose memory others keep exactly later, as it is shown to them.
TEST(FaithfulGradients, OfWhatOthersShowWithTheOtherSign) {
  at::manual_seed(37);
  const at::Tensor weight = parameter({64, 64});
  const at::Tensor x = at::randn({100, 64}).requires_grad_();
  const at::Tensor z = at::randn({100, 64, 2}).requires_grad_();
  const std::function<at::Tensor()> forwards[] = {
      [&] {
        const at::Tensor h = x * 1.0;
        return at::mm(h, weight).sum() + at::sin(at::_neg_view(h)).sum();
      },
      [&] {
        const at::Tensor c = at::view_as_complex(z * 1.0);
        return at::mm(at::imag(c), weight).sum() + at::sin(at::imag(at::conj(c))).sum();
      }};
  for (const auto& forward : forwards) {
    const at::Tensor exact = grad({forward()}, {weight})[0];
    Compressor compressor({.bits = 8});
    at::Tensor loss;
    {
      const CompressionScope scope(compressor);
      loss = forward();
    }
    EXPECT_LT(distance(grad({loss}, {weight})[0], exact), 0.02) << compressor.report();
  }
}

// Parts that do not share a version, and a sum's addend that others keep for a while.
TEST(FaithfulGradients, OfWhatChangesOnceNobodyNeedsIt) {
  at::manual_seed(38);
  const at::Tensor weight = parameter({64, 64});
  const at::Tensor x = at::randn({128, 64}).requires_grad_();
  const auto of_parts = [&](Compressor* compressor) {
    at::Tensor y;
    {
      std::optional<CompressionScope> scope;
      if (compressor != nullptr) scope.emplace(*compressor);
      const auto parts = at::unsafe_chunk(x * 1.0, 2);
      y = at::mm(parts[0], weight).sum();
      at::sin(parts[1]);
      parts[1].detach().mul_(2.0);
    }
    return grad({y}, {weight})[0];
  };
  const auto of_multiple = [&](Compressor* compressor) {
    at::Tensor y;
    {
      std::optional<CompressionScope> scope;
      if (compressor != nullptr) scope.emplace(*compressor);
      const at::Tensor h = x * 1.0;
      const at::Tensor first = at::mm(h, weight), twice = h * 2.0;
      y = at::mm(twice, weight).sum();
      at::abs(h).max();
      h.detach().add_(1.0);
    }
    return grad({y}, {weight})[0];
  };
  Compressor one({.bits = 8}), other({.bits = 8});
  other.recompute("copy", Recompute::always);
  EXPECT_LT(distance(of_parts(&one), of_parts(nullptr)), 0.02);
  EXPECT_LT(distance(of_multiple(&other), of_multiple(nullptr)), 0.02) << other.report();
}

// A pattern for many operations asks for no codes of what an activation reads its derivative from.
TEST(FaithfulGradients, OfLossesUnderWideRules) {
  at::manual_seed(39);
  const at::Tensor x = (at::randn({64, 64}) * 4.0).requires_grad_();
  const at::Tensor y = at::randint(2, {64, 64}).to(at::kFloat);
  for (const char* pattern : {"*", "s*", "fewbit::activation", "aten::*"}) {
    for (const auto& [name, loss, most] : losses_of_gates()) {
      const at::Tensor exact = grad({loss(x * 1.0, y)}, {x})[0];
      Compressor compressor({.bits = 8});
      compressor.rule(pattern, Bits{8});
      at::Tensor value;
      {
        const CompressionScope scope(compressor);
        value = loss(x * 1.0, y);
      }
      EXPECT_LT(distance(grad({value}, {x})[0], exact), 0.03 * most / 0.6)
          << name << pattern << compressor.report();
    }
  }
}

/// Rows or channels of 96 or 36 elements, which share groups of 256.
struct NormCase {
  const char* name;
  at::Tensor x;
  std::function<at::Tensor(const at::Tensor& x)> norm;
};

std::vector<NormCase> norms_of_unlike_rows() {
  const at::Tensor rows = at::randn({64, 96}), pictures = at::randn({8, 32, 6, 6});
  const at::Tensor zeros = rows * at::rand({64, 1}).gt(0.22),
                   decades = rows * at::pow(10.0, at::rand({64, 1}) * 2.0 - 1.0),
                   eight = rows * at::pow(10.0, at::rand({64, 1}) * 8.0 - 4.0);
  const at::Tensor columns = at::randn({128, 96}) * at::pow(10.0, at::linspace(-2.0, 2.0, 96));
  at::Tensor huge = rows.clone();
  huge[17] *= 1e20;
  const auto layer = [](const at::Tensor& x) { return at::layer_norm(x, {96}); };
  const auto root = [](const at::Tensor& x) {
    return x * at::rsqrt(x.pow(2.0).mean(-1, true) + 1e-6);
  };
  const auto batch = [](const at::Tensor& x) {
    return at::batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false);
  };
  const auto groups = [](const at::Tensor& x) { return at::group_norm(x, 8); };
  const auto spread = [&](at::IntArrayRef beside) {
    return pictures * at::pow(10.0, at::rand(beside) * 2.0 - 1.0);
  };
  return {{"zero rows", zeros, layer},
          {"rows over two decades", decades, layer},
          {"zero rows, by the root of the mean square", zeros, root},
          {"rows over two decades, by the root of the mean square", decades, root},
          {"rows over eight decades, by the root of the mean square", eight, root},
          {"a row beyond the range of squares, by the root of the mean square", huge, root},
          {"a row beyond the range of squares", huge, layer},
          {"rms_norm", decades, [](const at::Tensor& x) { return at::rms_norm(x, {96}); }},
          {"a mean of 30 deviations", rows + 30.0, layer},
          {"a mean square of columns",
           at::randn({128, 96}) * at::pow(10.0, at::linspace(-3.0, 3.0, 96)),
           [](const at::Tensor& x) { return x * at::rsqrt(x.pow(2.0).mean(0, true) + 1e-12); }},
          {"a batch norm by hand", columns,
           [](const at::Tensor& x) {
             return (x - x.mean(0, true)) * at::rsqrt(x.var(0, false, true) + 1e-5);
           }},
          {"by the deviation, by hand", columns,
           [](const at::Tensor& x) {
             return (x - x.mean(0, true)) * (1.0 / (x.std(0, true, true) + 1e-5));
           }},
          {"of channels, by hand", spread({1, 32, 1, 1}),
           [](const at::Tensor& x) {
             const at::Tensor centred = x - x.mean({0, 2, 3}, true);
             return centred * at::rsqrt(x.var({0, 2, 3}, false, true) + 1e-5);
           }},
          {"channels over two decades", spread({1, 32, 1, 1}), batch},
          {"groups over two decades", spread({8, 32, 1, 1}), groups}};
}

TEST(FaithfulGradients, OfNormsWhoseRowsAreUnlike) {
  at::manual_seed(40);
  for (const auto& [name, start, norm] : norms_of_unlike_rows()) {
    const at::Tensor x = start.detach().requires_grad_();
    for (const bool has_gelu : {false, true}) {
      const auto loss = [&, &norm = norm] {
        const at::Tensor y = norm(x * 1.0);
        at::manual_seed(41);
        return ((has_gelu ? at::gelu(y) : y) * at::randn_like(y)).sum();
      };
      const at::Tensor exact = grad({loss()}, {x})[0];
      for (const int bits : {2, 8}) {
        Compressor compressor({.bits = static_cast<double>(bits)});
        for (int step = 0; step < 2; ++step) {
          at::Tensor value;
          {
            const CompressionScope scope(compressor);
            value = loss();
          }
          EXPECT_LT(distance(grad({value}, {x})[0], exact), bits == 2 ? 0.35 : 0.006)
              << name << (has_gelu ? ", gelu, " : ", ") << bits << " bits, step " << step << '\n'
              << compressor.report();
        }
      }
    }
  }
}

TEST(FaithfulGradients, OfABatchNormThatTakesRunningStatistics) {
  at::manual_seed(42);
  const at::Tensor scale = at::pow(10.0, at::rand({32}) * 4.0 - 2.0), gamma = parameter({32});
  const at::Tensor x = (at::randn({8, 32, 6, 6}) * scale.view({1, 32, 1, 1})).requires_grad_();
  const at::Tensor mean = scale * 0.1, variance = scale.square();
  for (const bool has_gelu : {false, true}) {
    const auto loss = [&] {
      const at::Tensor y = at::batch_norm(x * 1.0, gamma, {}, mean.clone(), variance.clone(), false,
                                          0.1, 1e-5, false);
      return ((has_gelu ? at::gelu(y) : y) - 0.3).pow(3.0).sum();
    };
    const auto exact = grad({loss()}, {x, gamma});
    for (const int bits : {2, 8}) {
      Compressor compressor({.bits = static_cast<double>(bits)});
      at::Tensor value;
      {
        const CompressionScope scope(compressor);
        value = loss();
      }
      const auto seen = grad({value}, {x, gamma});
      for (size_t i : {0, 1}) {
        EXPECT_LT(distance(seen[i], exact[i]), bits == 2 ? 0.15 : 0.01) << compressor.report();
      }
    }
  }
}

// Expected values, soft arguments of maxima: softmax's gradient is of differences.
TEST(FaithfulGradients, OfExpectedValuesFarFromZero) {
  at::manual_seed(43);
  const at::Tensor x = at::randn({256, 18}).requires_grad_();
  for (const double offset : {0.0, 10.0, 1000.0}) {
    const at::Tensor values = at::randn({256, 18}) + offset;
    const auto loss = [&] { return (at::softmax(x * 1.0, -1) * values).sum(); };
    const at::Tensor exact = grad({loss()}, {x})[0];
    for (const int bits : {2, 8}) {
      Compressor compressor({.bits = static_cast<double>(bits)});
      at::Tensor value;
      {
        const CompressionScope scope(compressor);
        value = loss();
      }
      EXPECT_LT(distance(grad({value}, {x})[0], exact), bits == 2 ? 0.5 : 0.01)
          << offset << '\n'
          << compressor.report();
    }
  }
}

TEST(FaithfulGradients, DropoutDrawsWhatItDrawsWithoutAScope) {
  const at::Tensor x = at::randn({100, 64}).requires_grad_();
  const auto forward = [&] { return at::dropout(at::gelu(x * 1.0), 0.5, true); };
  at::manual_seed(36);
  const at::Tensor first = forward(), second = forward();
  at::manual_seed(36);
  Compressor compressor({.bits = 2});
  for (const at::Tensor& exact : {first, second}) {
    const CompressionScope scope(compressor);
    EXPECT_TRUE(at::equal(forward().ne(0.0), exact.ne(0.0)));
  }
}

}  // namespace fewbit::faithful_gradients_test

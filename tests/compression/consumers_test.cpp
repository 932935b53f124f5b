// What element-wise operations keep: coded where sums and layers take their results, exact where
// something divides by them.
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fewbit/checkpoint.hpp"
#include "fewbit/saved_bytes.hpp"
#include "meter/live_bytes.hpp"
#include "tests/compression/consumer_case.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/stored_as.hpp"

namespace fewbit::consumers_test {

using namespace test;
using testing::HasSubstr;
using torch::autograd::grad;

constexpr const char* kCheckpoint = "fewbit::checkpoint";

TEST(Consumers, WhatSumsAndLayersTakeIsCoded) {
  at::manual_seed(70);
  const at::Tensor w = parameter({256, 256}), gamma = parameter({256});
  const Case cases[] = {
      {"RMS norm", "aten::pow",
       [&](const at::Tensor& h) {
         const at::Tensor y = h * at::rsqrt(h.pow(2.0).mean(-1, true) + 1e-6);
         return at::linear(y * gamma, w).sum();
       }},
      {"RMS norm of heads", "aten::pow",
       [&](const at::Tensor& h) {
         const at::Tensor heads = h.view({64, 4, 64});
         const at::Tensor y = heads * at::rsqrt(heads.pow(2.0).mean(-1, true) + 1e-6);
         return at::linear(y.reshape({64, 256}), w).sum();
       }},
      {"gated", "aten::mul",
       [&](const at::Tensor& h) {
         return at::linear(at::silu(at::linear(h, w)) * at::linear(h, w), w).sum();
       }},
      {"squared relu", "aten::pow",
       [&](const at::Tensor& h) { return at::linear(at::relu(h).pow(2.0), w).sum(); }},
      {"layer scale", "aten::mul",
       [&](const at::Tensor& h) {
         return at::layer_norm(h + gamma * at::linear(h, w), {256}).pow(3.0).sum();
       }},
      {"squeeze and excite", "aten::mul",
       [&](const at::Tensor& h) {
         const at::Tensor maps = h.view({4, 16, 16, 16});
         const at::Tensor gate = at::sigmoid(maps.mean({2, 3}, true));
         return at::conv2d(maps * gate, w.view({16, 16, 16, 16}), {}, 1, 1).sum();
       }},
      {"attention of primitives", "aten::_softmax",
       [&](const at::Tensor& h) {
         const at::Tensor p = at::softmax(at::mm(h, h.t()) * 0.05, -1);
         return at::mm(at::dropout(p, 0.1, true), h).sum();
       }},
      {"squared error", "aten::pow",
       [&](const at::Tensor& h) { return (at::linear(h, w) - 1.0).pow(2.0).mean(); }},
      {"a checkpoint of a layer", kCheckpoint,
       [&](const at::Tensor& h) {
         const auto block = [&](const at::Tensor& x) {
           return x + at::linear(at::silu(at::linear(at::layer_norm(x, {256}, gamma), w)), w);
         };
         return checkpoint(block, checkpoint(block, h)).pow(2.0).mean();
       }},
      {"a checkpoint that begins with an RMS norm of primitives", kCheckpoint,
       [&](const at::Tensor& h) {
         const auto block = [&](const at::Tensor& x) {
           const at::Tensor y = x * at::rsqrt(x.pow(2.0).mean(-1, true) + 1e-6);
           return x + at::linear(y * gamma, w);
         };
         return at::linear(checkpoint(block, h), w).mean();
       }},
  };
  for (const auto& [name, operation, forward] : cases) {
    const Outcome outcome = run(forward, operation, 2);
    EXPECT_FALSE(outcome.stored.empty()) << name << '\n' << outcome.report;
    EXPECT_THAT(outcome.stored, testing::Not(testing::Contains(IsExact()))) << name << '\n'
                                                                            << outcome.report;
  }
}

TEST(Consumers, AnEluIsCodedInALayerAndExactInALogarithm) {
  at::manual_seed(72);
  const at::Tensor w = parameter({256, 256});
  const auto hidden =
      run([&](const at::Tensor& h) { return at::linear(at::elu(at::linear(h, w)), w).sum(); },
          "fewbit::activation");
  EXPECT_THAT(hidden.stored, testing::ElementsAre(IsCoded("few-bit table"))) << hidden.report;
  for (const bool is_celu : {false, true}) {
    const auto loss = run(
        [&](const at::Tensor& h) {
          const at::Tensor d = (is_celu ? at::celu(h * 3.0, 0.7) : at::elu(h * 3.0, 0.7)) + 0.71;
          return (1.0 / d + at::log(d)).mean();
        },
        "fewbit::activation");
    EXPECT_THAT(loss.stored, testing::ElementsAre(kDivided)) << loss.report;
    EXPECT_LT(loss.error, 1e-5) << loss.report;
  }
}

TEST(Consumers, AnActivationIsExactWhereAQuotientFollows) {
  at::manual_seed(78);
  const at::Tensor w = parameter({256, 256});
  const Case cases[] = {
      {"silu", "", [](const at::Tensor& h) { return at::silu(h * 2.0) + 0.279; }},
      {"gelu", "", [](const at::Tensor& h) { return at::gelu(h * 2.0) + 0.18; }},
      {"gelu, tanh", "", [](const at::Tensor& h) { return at::gelu(h * 2.0, "tanh") + 0.18; }},
      {"mish", "", [](const at::Tensor& h) { return at::mish(h * 2.0) + 0.31; }},
      {"hardswish", "", [](const at::Tensor& h) { return at::hardswish(h * 2.0) + 0.376; }},
      {"selu", "", [](const at::Tensor& h) { return at::selu(h * 2.0) + 1.76; }},
  };
  for (const auto& [name, unused, activation] : cases) {
    const auto loss = run(
        [&activation = activation](const at::Tensor& h) {
          const at::Tensor d = activation(h);
          return (1.0 / d + at::log(d)).mean();
        },
        "fewbit::activation");
    EXPECT_THAT(loss.stored, testing::ElementsAre(kDivided)) << name << loss.report;
    EXPECT_LT(loss.error, 1e-4) << name << loss.report;
    const auto hidden =
        run([&, &activation = activation](
                const at::Tensor& h) { return at::linear(activation(at::linear(h, w)), w).sum(); },
            "fewbit::activation");
    EXPECT_THAT(hidden.stored, testing::ElementsAre(IsCoded("few-bit table")))
        << name << hidden.report;
  }
}

// Those that libtorch takes the gradient of out of the result, and those that it copies the input
// of.
TEST(Consumers, AnActivationInPlaceIsExactWhereAQuotientFollows) {
  at::manual_seed(79);
  const at::Tensor w = parameter({256, 256});
  const struct {
    const char* name;
    void (*apply)(at::Tensor& h);
    double shift;
  } cases[] = {
      {"elu", [](at::Tensor& h) { at::elu_(h); }, 1.01},
      {"celu", [](at::Tensor& h) { at::celu_(h, 0.7); }, 0.71},
      {"selu", [](at::Tensor& h) { at::selu_(h); }, 1.76},
      {"silu", [](at::Tensor& h) { at::silu_(h); }, 0.279},
      {"gelu", [](at::Tensor& h) { at::gelu_(h); }, 0.18},
      {"gelu, tanh", [](at::Tensor& h) { at::gelu_(h, "tanh"); }, 0.18},
      {"mish", [](at::Tensor& h) { at::mish_(h); }, 0.31},
      {"hardswish", [](at::Tensor& h) { at::hardswish_(h); }, 0.376},
  };
  for (const auto& [name, apply, shift] : cases) {
    const auto activation = [&apply = apply](const at::Tensor& x) {
      at::Tensor h = x * 2.0;
      apply(h);
      return h;
    };
    const auto loss = run(
        [&, shift = shift](const at::Tensor& x) {
          const at::Tensor d = activation(x) + shift;
          return (1.0 / d + at::log(d)).mean();
        },
        "fewbit::activation");
    EXPECT_THAT(loss.stored, testing::ElementsAre(kDivided)) << name << loss.report;
    EXPECT_LT(loss.error, 1e-4) << name << loss.report;
    const auto hidden =
        run([&](const at::Tensor& x) { return at::linear(activation(at::linear(x, w)), w).sum(); },
            "fewbit::activation");
    EXPECT_THAT(hidden.stored, testing::ElementsAre(IsCoded("few-bit table")))
        << name << hidden.report;
  }
}

at::Tensor of_square(const at::Tensor& y) {
  return at::log(y.pow(2.0) + 1e-5).mean();
}

void expect_exact(std::span<const Case> cases) {
  for (const auto& [name, operation, forward] : cases) {
    const Outcome outcome = run(forward, operation, 4);
    EXPECT_LT(outcome.error, 0.05) << name << '\n' << outcome.report;
  }
}

TEST(Consumers, WhatOthersCodedOrWouldComputeAgainIsExactWhereALogarithmFollows) {
  at::manual_seed(73);
  const at::Tensor w = parameter({256, 256});
  const Case cases[] = {
      {"a layer first", "aten::pow",
       [&](const at::Tensor& h) { return at::mm(h, w).mean() * 1e-3 + of_square(h); }},
      {"a layer afterwards", "aten::pow",
       [&](const at::Tensor& h) { return of_square(h) + at::mm(h, w).mean() * 1e-3; }},
      {"a mean first", "aten::pow",
       [&](const at::Tensor& h) { return h.pow(2.0).mean() + of_square(h); }},
      {"a layer in between", "aten::pow",
       [&](const at::Tensor& h) {
         const at::Tensor square = h.pow(2.0);
         const at::Tensor sum = at::mm(h, w).mean() * 1e-3;
         return at::log(square + 1e-5).mean() + sum;
       }},
      {"a sum of the result first", "aten::pow",
       [&](const at::Tensor& h) {
         const at::Tensor square = h.pow(2.0), sum = square.sum();
         return sum * 1e-6 + at::log(square + 1e-5).mean();
       }},
      {"a layer of the result first", "aten::mul",
       [&](const at::Tensor& h) {
         const at::Tensor square = h * h, sum = at::mm(square, w).sum();
         return sum * 1e-6 + at::log(square + 1e-5).mean();
       }},
      {"a mean that is only looked at", "aten::pow",
       [&](const at::Tensor& h) {
         const at::Tensor square = (h - 0.1).pow(2.0);
         {
           const at::NoGradGuard no_grad;
           square.mean().item();
         }
         return at::log(square + 1e-5).mean();
       }},
      {"a mean that is only looked at, of a product", "aten::mul",
       [&](const at::Tensor& h) {
         const at::Tensor product = (h - 0.1) * at::sin(h);
         product.detach().mean().item();
         return at::log(at::abs(product) + 1e-5).mean();
       }},
  };
  expect_exact(cases);
}

TEST(Consumers, WhatIsDividedBehindOtherOperationsIsExact) {
  at::manual_seed(79);
  const at::Tensor w = parameter({256, 256});
  const Case cases[] = {
      {"a hundred squares", "aten::mul",
       [&](const at::Tensor& h) {
         std::vector<at::Tensor> squares;
         for (int i = 0; i < 100; ++i) {
           const at::Tensor d = h - 0.02 * i;
           squares.push_back(d * d);
         }
         return at::log(at::stack(squares) + 1e-5).mean();
       }},
      {"an elu's layer first", "fewbit::activation",
       [&](const at::Tensor& h) {
         const at::Tensor y = at::elu(h * 3.0) + 1.001, sum = at::mm(y, w).sum() * 1e-6;
         return sum + at::log(y).mean();
       }},
      {"an elu's mean first", "fewbit::activation",
       [&](const at::Tensor& h) {
         const at::Tensor y = at::elu(h * 3.0) + 1.001, mean = y.mean();
         return mean + at::log(y).mean();
       }},
      {"written into parts of another tensor", "aten::mul",
       [&](const at::Tensor& h) {
         const at::Tensor whole = at::zeros({4, 64, 256}), sum = at::zeros({64, 256});
         for (int64_t i = 0; i < 4; ++i) {
           const at::Tensor d = h - 0.2 * static_cast<double>(i);
           whole.select(0, i).copy_(d * d);
         }
         sum.narrow(1, 0, 128).add_(h.narrow(1, 0, 128) * h.narrow(1, 0, 128));
         return at::log(whole + 1e-5).mean() + at::log(sum + 1e-5).mean();
       }},
      {"parts of the result", "aten::mul",
       [&](const at::Tensor& h) {
         at::Tensor sum = at::zeros({});
         for (const at::Tensor& row : (h * h).unbind(0)) sum = sum + at::log(row + 1e-5).mean();
         return sum;
       }},
  };
  expect_exact(cases);
}

TEST(Consumers, WhatIsWeighedByUnitsOrProbabilitiesIsExact) {
  at::manual_seed(80);
  const at::Tensor w = parameter({256, 256}), gamma = parameter({256}), beta = parameter({256});
  const Case cases[] = {
      {"weights of a batch", "aten::pow",
       [&](const at::Tensor& h) {
         const at::Tensor deviation = at::pow(10.0, at::rand({64, 1}) * 4.0 - 4.0);
         return ((h * deviation).pow(2.0) / deviation.square()).mean() +
                ((h * deviation).pow(2.0) * deviation.pow(-2.0)).mean();
       }},
      {"parts of a stick", "aten::mul",
       [&](const at::Tensor& h) {
         const at::Tensor start = at::sigmoid(h);
         at::Tensor rest = at::ones_like(start);
         std::vector<at::Tensor> parts;
         for (int i = 0; i < 20; ++i) {
           const at::Tensor share = at::sigmoid(start * 3.0 - 0.1 * i);
           parts.push_back(share * rest);
           rest = rest * (1.0 - share);
         }
         return at::log(at::stack(parts).clamp_min(1e-8)).mean();
       }},
      {"units of columns", "aten::pow",
       [&](const at::Tensor& h) {
         const at::Tensor units = at::pow(10.0, at::linspace(-3.0, 3.0, 256));
         return ((h * units).pow(2.0) / (units * units)).mean();
       }},
      {"units of columns, behind a mean", "aten::pow",
       [&](const at::Tensor& h) {
         const at::Tensor units = at::pow(10.0, at::linspace(-3.0, 3.0, 256));
         return (0.5 * (h * units).pow(2.0).mean(0) / (units * units)).sum();
       }},
      {"units of rows, behind a sum", "aten::pow",
       [&](const at::Tensor& h) {
         const at::Tensor units = at::pow(10.0, at::linspace(-3.0, 3.0, 64)).view({64, 1});
         const at::Tensor squares = (h * units).pow(2.0).sum(-1);
         return (squares / (units * units).sum(-1)).mean();
       }},
      {"the entropy of probabilities by logsumexp", "aten::_softmax",
       [&](const at::Tensor& h) {
         const at::Tensor scores = h * 2.0, p = at::softmax(scores, -1),
                          logarithm = scores - at::logsumexp(scores, -1, true);
         return (p * logarithm).sum();
       }},
      {"the entropy of confident probabilities", "aten::_softmax",
       [&](const at::Tensor& h) {
         const at::Tensor scores = h * 8.0, p = at::softmax(scores, -1),
                          logarithm = at::log_softmax(scores, -1);
         return (p * logarithm).sum();
       }},
      {"weights of rows, by a product with a vector", "aten::pow",
       [&](const at::Tensor& h) {
         const at::Tensor units = at::pow(10.0, at::linspace(-2.0, 2.0, 256));
         const at::Tensor columns = h.t() * units.view({256, 1});
         return at::mv((h * units).pow(2.0), units.pow(-2.0)).mean() +
                at::mm(columns.t().pow(2.0), units.pow(-2.0).view({256, 1})).mean();
       }},
      {"weights of columns, in sums", "aten::pow",
       [&](const at::Tensor& h) {
         const at::Tensor units = at::pow(10.0, at::linspace(-2.0, 2.0, 256)),
                          weights = units.pow(-2.0);
         return at::einsum("ij,j->i", {(h * units).pow(2.0), weights}).mean() +
                at::addcmul(at::zeros({}), (h * units).pow(2.0), weights.repeat({64, 1})).mean() +
                at::addcdiv(at::zeros({}), (h * units).pow(2.0), units.square()).mean();
       }},
      {"of a norm", "aten::pow",
       [&](const at::Tensor& h) {
         const at::Tensor y = at::layer_norm(at::exp(h), {256}, gamma, beta);
         return at::mm(y, w).mean() * 1e-6 + of_square(y);
       }},
  };
  expect_exact(cases);
}

// Each column errs beside its own energy, as far as codes of so many bits do.
TEST(Consumers, WhatIsWeighedByColumnsErrsByColumns) {
  at::manual_seed(80);
  const at::Tensor units = at::pow(10.0, at::linspace(-2.0, 2.0, 256)), weights = units.pow(-2.0),
                   several = weights.unsqueeze(1) * at::rand({256, 4});
  const Case cases[] = {
      {"squares, by a matrix", "",
       [&](const at::Tensor& h) { return at::mm((h * units).square(), several).sum(); }},
      {"squares, by a layer", "",
       [&](const at::Tensor& h) { return at::linear((h * units).square(), several.t()).sum(); }},
      {"the mean of squares, by a product with a vector", "",
       [&](const at::Tensor& h) { return at::dot((h * units).square().mean(0), weights); }},
      {"squares, by where", "",
       [&](const at::Tensor& h) {
         const at::Tensor square = (h * units).square();
         return at::where(h.detach() > 0.0, square * 0.5, square * 2.0).mul(weights).sum();
       }},
      {"products", "",
       [&](const at::Tensor& h) {
         const at::Tensor x = h * units, y = h.sin() * units;
         return (x * y / units.square()).mean();
       }},
      {"factors of a scale", "",
       [&](const at::Tensor& h) {
         const at::Tensor scale = h.mean(0).exp();
         return (h * units * scale / units).sum();
       }},
      {"a deviation by hand", "",
       [&](const at::Tensor& h) {
         const at::Tensor x = h * units, centred = x - x.mean(0, true);
         return (centred * at::rsqrt(x.var(0, false, true) + 1e-6)).pow(3.0).sum();
       }},
  };
  for (const auto& [name, operation, forward] : cases) {
    const Outcome outcome = run(forward, operation, 3);
    EXPECT_LT(outcome.error, 0.15) << name << '\n' << outcome.report;
  }
}

TEST(Consumers, WhatIsChangedInPlaceIsCodedBefore) {
  const Forward forward = [](const at::Tensor& h) {
    const at::Tensor y = h.pow(2.0);
    h.mul_(3.0);
    return y.mean() + h.mean();
  };
  at::manual_seed(74);
  const at::Tensor x = at::randn({64, 256}).requires_grad_();
  EXPECT_THAT(refusal([&] { grad({forward(x * 1.0)}, {x}); }), HasSubstr("inplace"));
  Compressor compressor({.bits = 8});
  at::Tensor y;
  {
    const CompressionScope scope(compressor);
    y = forward(x * 1.0);
  }
  EXPECT_LT(distance(grad({y}, {x})[0], (2.0 * x.detach() + 3.0) / x.numel()), 0.01);
}

TEST(Consumers, WhatNobodyTookIsExactAsLongAsItsResultLives) {
  at::manual_seed(75);
  const at::Tensor x = at::randn({256, 256}).requires_grad_();
  const Case cases[] = {
      {"a square", "aten::pow", [](const at::Tensor& h) { return h.pow(2.0); }},
      {"a square and more", "aten::pow", [](const at::Tensor& h) { return h.pow(2.0) + 1e-6; }},
      {"probabilities", "aten::_softmax", [](const at::Tensor& h) { return at::softmax(h, 1); }},
      {"an elu", "fewbit::activation", [](const at::Tensor& h) { return at::elu(h) + 1.001; }},
      {"a checkpoint", kCheckpoint,
       [](const at::Tensor& h) {
         return checkpoint([](const at::Tensor& one) { return one.pow(2.0); }, h);
       }},
  };
  for (const auto& [name, operation, forward] : cases) {
    const auto loss = [](const at::Tensor& y) { return at::log(y + 1e-9).mean(); };
    const at::Tensor exact = grad({loss(forward(x * 1.0))}, {x})[0];
    Compressor compressor({.bits = 2});
    at::Tensor y;
    {
      const CompressionScope scope(compressor);
      y = forward(x * 1.0);
    }
    EXPECT_EQ(compressor.sites().at(0).operation, operation);
    EXPECT_THAT(compressor.sites().at(0).stored, IsExact(ExactReason::result_in_use))
        << compressor.report();
    EXPECT_LT(distance(grad({loss(y)}, {x})[0], exact), 1e-3) << name;
  }
  Compressor compressor({.bits = 2});
  at::Tensor y;
  const session::LiveBytes live("test", at::kCPU);
  {
    const CompressionScope scope(compressor);
    const at::Tensor h = x * 1.0;
    y = h.narrow(0, 0, 128) * h.narrow(0, 128, 128);
    y = at::mm(y, y.t());
  }
  EXPECT_LT(live.now(), y.nbytes() + x.nbytes() / 4) << compressor.report();
}

}  // namespace fewbit::consumers_test

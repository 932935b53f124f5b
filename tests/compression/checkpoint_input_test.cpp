// The input of a checkpoint: coded where layers take it, exact where the function divides or
// chooses.
#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fewbit/checkpoint.hpp"
#include "tests/compression/consumer_case.hpp"

namespace fewbit::checkpoint_input_test {

using namespace test;
using torch::autograd::grad;

constexpr const char* kCheckpoint = "fewbit::checkpoint";

TEST(CheckpointInput, IsExactWhereALogarithmFollows) {
  at::manual_seed(76);
  const auto square = [](const at::Tensor& x) { return x.pow(2.0) + 1e-5; };
  const auto log = [](const at::Tensor& x) { return at::log(x); };
  const at::Tensor classes = at::randint(256, {64}, at::kLong), w = parameter({256, 256});
  const Case cases[] = {
      {"behind it", kCheckpoint,
       [&](const at::Tensor& h) { return at::log(checkpoint(square, h)).mean(); }},
      {"behind two", kCheckpoint,
       [&](const at::Tensor& h) { return checkpoint(log, checkpoint(square, h)).mean(); }},
      {"within it, behind a square", kCheckpoint,
       [&](const at::Tensor& h) { return checkpoint(log, square(h)).mean(); }},
      {"behind it and a mean", kCheckpoint,
       [&](const at::Tensor& h) {
         const at::Tensor d = checkpoint(square, h), mean = d.mean();
         return at::log(d).mean() + mean;
       }},
      {"a quotient of two inputs", kCheckpoint,
       [&](const at::Tensor& h) {
         const auto of_two = [](const at::Tensor& x, const at::Tensor& y) { return x / y; };
         const at::Tensor below = h.pow(2.0) + 1e-5;
         return checkpoint(of_two, h, below).mean();
       }},
      {"behind a layer", kCheckpoint,
       [&](const at::Tensor& h) {
         const auto both = [&](const at::Tensor& x) {
           const at::Tensor first = at::mm(x, w);
           return first + at::log(x);
         };
         return checkpoint(both, square(h)).mean();
       }},
      {"behind a layer, in another part", kCheckpoint,
       [&](const at::Tensor& h) {
         const auto parts = [&](const at::Tensor& x) {
           const at::Tensor first = at::mm(x.narrow(1, 0, 128), w.narrow(0, 0, 128));
           return first.sum() + at::log(x.narrow(1, 128, 128)).sum();
         };
         return checkpoint(parts, square(h));
       }},
      {"behind a checkpoint of a layer within it", kCheckpoint,
       [&](const at::Tensor& h) {
         const auto outer = [&](const at::Tensor& x) {
           const at::Tensor first =
               checkpoint([&](const at::Tensor& y) { return at::mm(y, w); }, x);
           return first + at::log(x);
         };
         return checkpoint(outer, square(h)).mean();
       }},
      {"a choice", kCheckpoint,
       [&](const at::Tensor& h) {
         const auto chosen = [&](const at::Tensor& x) {
           const at::Tensor scores = at::mm(x, w);
           return scores.masked_select(scores > 0.0).sum();
         };
         return checkpoint(chosen, h);
       }},
      {"the greatest of windows", kCheckpoint,
       [&](const at::Tensor& h) {
         const auto pooled = [&](const at::Tensor& x) {
           return at::mm(at::max_pool1d(x.view({1, 64, 256}), 2).view({64, 128}),
                         w.narrow(0, 0, 128));
         };
         return checkpoint(pooled, h).sum();
       }},
      {"confident classes", kCheckpoint,
       [&](const at::Tensor& h) {
         const auto loss = [&](const at::Tensor& x) { return at::cross_entropy_loss(x, classes); };
         return checkpoint(loss, h * 20.0);
       }},
  };
  for (const auto& [name, operation, forward] : cases) {
    const Outcome outcome = run(forward, operation, 2);
    EXPECT_THAT(outcome.stored, testing::Each(kDivided)) << name << '\n' << outcome.report;
    EXPECT_LT(outcome.error, 1e-4) << name << '\n' << outcome.report;
  }
}

TEST(CheckpointInput, OfANormMayHaveRowsThatAreUnlike) {
  at::manual_seed(77);
  const at::Tensor gamma = parameter({192});
  at::Tensor scale = at::pow(10.0, at::rand({64, 1}) * 4.0 - 4.0);
  scale.narrow(0, 0, 8).zero_();
  const at::Tensor x = (at::randn({64, 192}) * scale).requires_grad_(), target = at::randn({192});
  const auto norm = [&](const at::Tensor& h) { return at::layer_norm(h, {192}, gamma); };
  const auto forward = [&] { return (checkpoint(norm, x * 1.0) - target).pow(3.0).mean(); };
  const at::Tensor exact = grad({forward()}, {x})[0];
  for (const int bits : {2, 4, 8}) {
    Compressor compressor({.bits = static_cast<double>(bits)});
    at::Tensor loss;
    {
      const CompressionScope scope(compressor);
      loss = forward();
    }
    EXPECT_LT(distance(grad({loss}, {x})[0], exact), 1.2 * std::exp2(-bits)) << compressor.report();
  }
}

TEST(CheckpointInput, OfANormOfChannelsMayHaveChannelsThatAreUnlike) {
  at::manual_seed(81);
  const at::Tensor gamma = parameter({96}), w = parameter({96, 64}), target = at::randn({64});
  const at::Tensor scale = at::pow(10.0, at::linspace(-3.0, 3.0, 96));
  const at::Tensor x = ((at::randn({128, 96}) + 2.0) * scale).requires_grad_();
  const auto norm = [&](const at::Tensor& h) {
    return at::mm(at::batch_norm(h, gamma, {}, {}, {}, true, 0.1, 1e-12, false), w);
  };
  const Case cases[] = {
      {"of the input", "", norm},
      {"behind a shift", "", [&](const at::Tensor& h) { return norm(h + scale); }},
      {"behind a transposition", "",
       [&](const at::Tensor& h) {
         const at::Tensor channels = h.view({4, 32, 96}).transpose(1, 2);
         const at::Tensor y = at::batch_norm(channels, gamma, {}, {}, {}, true, 0.1, 1e-12, false);
         return at::matmul(y.transpose(1, 2), w);
       }},
  };
  for (const auto& [name, unused, function] : cases) {
    const auto forward = [&, &function = function] {
      return (checkpoint(function, x * 1.0) - target).pow(3.0).mean();
    };
    const std::vector<at::Tensor> exact = grad({forward()}, {gamma, w});
    for (const int bits : {2, 4, 8}) {
      Compressor compressor({.bits = static_cast<double>(bits)});
      at::Tensor loss;
      {
        const CompressionScope scope(compressor);
        loss = forward();
      }
      const std::vector<at::Tensor> coded = grad({loss}, {gamma, w});
      for (size_t i = 0; i < exact.size(); ++i) {
        EXPECT_LT(distance(coded[i], exact[i]), 2.0 * std::exp2(-bits))
            << name << compressor.report();
      }
    }
  }
}

TEST(CheckpointInput, IsExactWhereTheFunctionChooses) {
  at::manual_seed(82);
  const at::Tensor w = parameter({256, 256});
  const Case cases[] = {
      {"a rounding quotient", "",
       [](const at::Tensor& y) { return at::sin(y - at::div(y, 1.0, "floor")); }},
      {"draws", "", [](const at::Tensor& y) { return y * at::poisson(at::exp(at::tanh(y))); }},
      {"the median", "",
       [](const at::Tensor& y) { return y * std::get<0>(at::median(y, -1, true)); }},
      {"one of many", "",
       [](const at::Tensor& y) { return y * std::get<0>(at::kthvalue(y, 100, -1, true)); }},
      {"whole numbers", "", [](const at::Tensor& y) { return y * at::floor(y * 3.0); }},
      {"integers", "",
       [](const at::Tensor& y) { return at::gather(y, 1, (y * 3.0).abs().to(at::kLong)); }},
      {"a mask of integers", "",
       [](const at::Tensor& y) {
         return at::masked_select(y, (y * 3.0).abs().to(at::kLong).to(at::kBool));
       }},
      {"places of the greatest", "",
       [](const at::Tensor& y) {
         const at::Tensor places = std::get<1>(at::max(y, 1));
         at::Tensor sum = at::zeros({});
         for (int64_t i = 0; i < 8; ++i) {
           const at::Tensor rows = places.remainder(8).eq(i).nonzero().squeeze(1);
           sum = sum + at::index_select(y, 0, rows).pow(3.0).sum();
         }
         return sum * at::ones({64, 1});
       }},
      {"lengths", "",
       [](const at::Tensor& y) {
         const at::Tensor lengths =
             at::round(at::exp(y.select(1, 0) * 0.1)).to(at::kLong).clamp_max(9);
         return at::repeat_interleave(y, lengths, 0);
       }},
      {"signs", "", [](const at::Tensor& y) { return y * at::sign(y - 0.1); }},
      {"places in a picture", "",
       [](const at::Tensor& y) {
         const at::Tensor places = at::tanh(y).view({1, 64, 128, 2});
         return at::grid_sampler(y.view({1, 1, 64, 256}), places, 0, 0, false);
       }},
  };
  for (const auto& [name, unused, choose] : cases) {
    const auto forward = [&, &choose = choose](const at::Tensor& h) {
      const auto function = [&](const at::Tensor& x) { return choose(at::mm(x, w)); };
      return checkpoint(function, h).pow(2.0).mean();
    };
    const Outcome outcome = run(forward, kCheckpoint, 2);
    EXPECT_THAT(outcome.stored, testing::Each(kDivided)) << name << '\n' << outcome.report;
    EXPECT_LT(outcome.error, 0.2) << name << '\n' << outcome.report;
  }
}

}  // namespace fewbit::checkpoint_input_test

// Directions of channels: found in a site's tensors wherever channels lie in memory, used for later
// ones where that is worth their bytes, saved and loaded.
#include <cmath>
#include <string>
#include <vector>

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "compression/directions_text.hpp"
#include "compression/site_directions.hpp"
#include "fewbit/fewbit.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::directions_test {

using session::SiteDirectionsPointer;

/// Places by channels along `rank` directions and a little besides.
struct Places {
  at::Tensor directions, x;

  Places(int64_t places, int64_t channels, int64_t rank, double rest = 0.1) {
    directions = std::get<0>(at::linalg_qr(at::randn({channels, rank}))).t();
    x = at::matmul(at::randn({places, rank}), directions) + rest * at::randn({places, channels});
  }
};

SiteDirectionsPointer found_in(const at::Tensor& x, const std::string& operation,
                               const SiteDirectionsPointer& before = nullptr) {
  session::SaveEvent event;
  event.facts.operation = operation;
  event.facts.shape = x.sizes().vec();
  return session::find_directions(x, {event}, before, 16);
}

/// Of the energy of planted directions what lies in those that were found, at least.
void expect_found(const SiteDirectionsPointer& found, const at::Tensor& planted,
                  const std::string& what) {
  ASSERT_NE(found, nullptr) << what;
  ASSERT_EQ(found->channels, planted.size(1)) << what;
  const at::Tensor basis = ops::directions_of(found->basis, found->channels);
  const at::Tensor shares = at::mm(planted, basis.t()).square().sum(1);
  EXPECT_GT(shares.min().item().toDouble(), 0.97) << what;
  const at::Tensor lengths = basis.square().sum(1);
  EXPECT_TRUE(at::allclose(lengths, at::ones_like(lengths), 0.0, 0.05)) << what;
}

TEST(Directions, AreFoundWhereverChannelsLie) {
  at::manual_seed(1);
  const Places places(2048, 96, 4);
  expect_found(found_in(places.x.view({8, 256, 96}), "aten::linear"), places.directions, "tokens");
  expect_found(found_in(places.x.to(at::kBFloat16), "aten::mm"), places.directions, "bf16");
  const at::Tensor images = places.x.view({8, 16, 16, 96}).permute({0, 3, 1, 2});
  expect_found(found_in(images, "aten::convolution"), places.directions, "channels last");
  expect_found(found_in(images.contiguous(), "aten::convolution"), places.directions, "maps");
  const at::Tensor heads = places.x.view({8, 256, 6, 16}).transpose(1, 2);
  expect_found(found_in(heads, "fewbit::attention"), places.directions, "heads");
}

// Which would round products to bf16.
TEST(Directions, AreTheSameUnderAutocast) {
  at::manual_seed(5);
  const Places places(2048, 96, 4);
  const SiteDirectionsPointer without = found_in(places.x, "aten::mm");
  at::autocast::set_autocast_enabled(at::kCPU, true);
  const SiteDirectionsPointer with = found_in(places.x, "aten::mm");
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::clear_cache();
  ASSERT_NE(without, nullptr);
  ASSERT_NE(with, nullptr);
  EXPECT_TRUE(at::equal(with->basis.view(at::kByte), without->basis.view(at::kByte)));
}

TEST(Directions, FollowThoseBefore) {
  at::manual_seed(2);
  // A second direction that one step from random ones hardly tells from the rest.
  const Places places(4096, 64, 2, 0.15);
  SiteDirectionsPointer found;
  for (int step = 0; step < 3; ++step) found = found_in(places.x, "aten::mm", found);
  expect_found(found, places.directions, "three steps");
  // Others than those before.
  const Places others(4096, 64, 3, 0.1);
  for (int step = 0; step < 3; ++step) found = found_in(others.x, "aten::mm", found);
  expect_found(found, others.directions, "others");
  EXPECT_NE(found_in(at::randn({512, 32}) + 3.0, "aten::mm", found), nullptr);  // other channels
}

TEST(Directions, AreNoneWhereTheyAreNotWorthIt) {
  at::manual_seed(3);
  EXPECT_EQ(found_in(at::randn({4096, 64}), "aten::mm"), nullptr);
  EXPECT_EQ(found_in(Places(32, 64, 2).x, "aten::mm"), nullptr);
  EXPECT_EQ(found_in(Places(4096, 8, 1).x, "aten::mm"), nullptr);
  EXPECT_EQ(found_in(Places(4096, 64, 2).x.to(at::kDouble), "aten::mm"), nullptr);
  EXPECT_EQ(found_in(at::zeros({4096, 64}), "aten::mm"), nullptr);
  at::Tensor odd = Places(4096, 64, 2).x;
  odd[7][9] = NAN;
  EXPECT_EQ(found_in(odd, "aten::mm"), nullptr);
  EXPECT_EQ(found_in(at::full({4096, 64}, 1e38), "aten::mm"), nullptr);
  EXPECT_EQ(found_in(at::randn({4096}), "aten::mm"), nullptr);
}

/// Two layers whose inputs lie along few directions; a batch of other numbers each time.
class Network {
 public:
  explicit Network(int64_t rank, at::ScalarType type = at::kFloat) : rank_(rank), type_(type) {
    at::manual_seed(4);
    directions_ = at::randn({rank, 64}, type);
    first_ = at::randn({64, 64}, type).mul_(0.125).requires_grad_();
    second_ = at::randn({64, 64}, type).mul_(0.125).requires_grad_();
  }

  at::Tensor batch(int64_t tokens) const {
    return at::matmul(at::randn({tokens, rank_}, type_), directions_) +
           0.05 * at::randn({tokens, 64}, type_);
  }

  /// Gradients of a step.
  std::vector<at::Tensor> step(const at::Tensor& x, Compressor* compressor) {
    at::Tensor loss;
    {
      std::optional<CompressionScope> scope;
      if (compressor != nullptr) scope.emplace(*compressor);
      const at::Tensor h = at::mm(x * 1.0, first_);
      loss = at::mm(h + 0.0, second_).square().mean();
    }
    for (at::Tensor* weight : {&first_, &second_}) weight->mutable_grad() = at::Tensor();
    loss.backward();
    return {first_.grad().clone(), second_.grad().clone()};
  }

  double error(Compressor& compressor) {
    double sum = 0.0;
    for (int i = 0; i < 8; ++i) {
      const at::Tensor x = batch(512).requires_grad_();
      const auto exact = step(x, nullptr), coded = step(x, &compressor);
      for (size_t j = 0; j < exact.size(); ++j) {
        sum += ((coded[j] - exact[j]).square().sum() / exact[j].square().sum()).item().toDouble();
      }
    }
    return sum / 16;
  }

 private:
  int64_t rank_;
  at::ScalarType type_;
  at::Tensor directions_, first_, second_;
};

bool uses_directions(const Compressor& compressor) {
  for (const Compressor::Site& site : compressor.sites()) {
    if (site.stored.codec.find("low rank") != std::string::npos) return true;
  }
  return false;
}

double bits_of(const Compressor& compressor) {
  double bits = 0.0, elements = 0.0;
  for (const Compressor::Site& site : compressor.sites()) {
    bits += 8.0 * static_cast<double>(site.bytes_after);
    elements += static_cast<double>(site.elements);
  }
  return bits / elements;
}

TEST(Directions, TakeOffErrorAtTheSameBytes) {
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    Network with(3, type), without(3, type);
    Compressor directions({.bits = 2, .directions = 16}), none({.bits = 2});
    for (int i = 0; i < 4; ++i) {
      with.step(with.batch(512).requires_grad_(), &directions);
      without.step(without.batch(512).requires_grad_(), &none);
    }
    EXPECT_TRUE(uses_directions(directions)) << directions.report();
    EXPECT_FALSE(uses_directions(none)) << none.report();
    EXPECT_LE(bits_of(directions), bits_of(none) + 0.01) << directions.report();
    EXPECT_LT(with.error(directions), 0.4 * without.error(none)) << directions.report();
  }
}

// Their bytes too.
TEST(Directions, AreWithinABudgetOfBytes) {
  for (const double bits : {1.1, 1.5, 2.0, 3.0}) {
    const auto bytes = static_cast<int64_t>((bits + 0.13) * 3 * 512 * 64 / 8);
    Network with(3), without(3);
    Compressor directions({.bytes = bytes, .directions = 16}), none({.bytes = bytes});
    int64_t most = 0;
    for (int i = 0; i < 10; ++i) {
      with.step(with.batch(512).requires_grad_(), &directions);
      without.step(without.batch(512).requires_grad_(), &none);
      most = 0;
      for (const Compressor::Site& site : directions.sites()) most += site.bytes_after;
      if (i > 0) {
        EXPECT_LE(most, bytes) << bits << ' ' << i << directions.report();
      }
    }
    EXPECT_TRUE(uses_directions(directions)) << directions.report();
    EXPECT_LT(with.error(directions), 0.8 * without.error(none)) << bits << directions.report();
  }
}

// Neither more error than before, but for chance.
TEST(Directions, DoNoHarmWhereTensorsChange) {
  Network network(3), other(3);
  Compressor directions({.bits = 2, .directions = 16}), none({.bits = 2});
  for (int i = 0; i < 4; ++i) {
    const at::Tensor x = network.batch(512).requires_grad_();
    network.step(x, &directions);
    network.step(x, &none);
  }
  ASSERT_TRUE(uses_directions(directions));
  for (const int64_t tokens : {512, 100, 5, 1000}) {
    double with = 0.0, without = 0.0;
    for (int i = 0; i < 16; ++i) {
      const at::Tensor x = (at::randn({tokens, 64}) + 1.0).requires_grad_();
      const auto exact = network.step(x, nullptr);
      const auto error = [&](Compressor& compressor) {
        const auto coded = network.step(x, &compressor);
        return ((coded[0] - exact[0]).square().sum() / exact[0].square().sum()).item().toDouble();
      };
      with += error(directions);
      without += error(none);
    }
    EXPECT_LT(with, 1.5 * without + 1e-12) << tokens;
  }
}

TEST(Directions, AreForgottenWhereATensorIsNotFinite) {
  Network network(3);
  Compressor compressor({.bits = 2, .directions = 16});
  for (int i = 0; i < 4; ++i) network.step(network.batch(512).requires_grad_(), &compressor);
  at::Tensor odd = network.batch(512);
  odd[3][3] = INFINITY;
  network.step(odd.requires_grad_(), &compressor);  // the fifth, which is measured
  for (int i = 0; i < 13; ++i) network.step(network.batch(512).requires_grad_(), &compressor);
  EXPECT_TRUE(uses_directions(compressor)) << compressor.report();
  EXPECT_LT(network.error(compressor), 0.02);
}

TEST(Directions, AreSavedAndLoadedBitForBit) {
  Network network(3), again(3);
  Compressor compressor({.bits = 2, .directions = 16}), loaded({.bits = 2, .directions = 16});
  for (int i = 0; i < 4; ++i) network.step(network.batch(512).requires_grad_(), &compressor);
  ASSERT_TRUE(uses_directions(compressor));
  const std::string path = testing::TempDir() + "/directions.txt";
  compressor.save(path);
  loaded.load(path);
  EXPECT_EQ(loaded.report(), compressor.report());
  for (int i = 0; i < 6; ++i) {
    const at::Tensor x = network.batch(512).requires_grad_();
    const auto a = network.step(x, &compressor), b = again.step(x, &loaded);
    for (size_t j = 0; j < a.size(); ++j) EXPECT_TRUE(at::equal(a[j], b[j])) << i;
  }
  EXPECT_EQ(loaded.report(), compressor.report());
  // Whoever wants none has none.
  Compressor none({.bits = 2});
  none.load(path);
  network.step(network.batch(512).requires_grad_(), &none);
  EXPECT_FALSE(uses_directions(none)) << none.report();
}

TEST(Directions, AreText) {
  at::manual_seed(6);
  const SiteDirectionsPointer found = found_in(Places(2048, 70, 4).x, "aten::mm");
  const std::string word = session::text_of(found);
  EXPECT_EQ(word.rfind("16x70xplain:", 0), 0U) << word.substr(0, 30);
  const SiteDirectionsPointer again = session::directions_of(word);
  EXPECT_TRUE(at::equal(again->basis.view(at::kByte), found->basis.view(at::kByte)));
  EXPECT_EQ(again->rests, found->rests);
  EXPECT_EQ(session::text_of(again), word);
  EXPECT_EQ(session::directions_of("-"), nullptr);
  for (const std::string& odd :
       {std::string(), std::string("16"), word.substr(1), word.substr(0, word.size() - 1),
        word + "00", "0" + word.substr(2), "17" + word.substr(2), word + "g",
        word.substr(0, word.size() - 1) + "G", word.substr(0, word.size() - 2) + "7f",
        word.substr(0, word.size() - 2) + "ff", std::string("4x0xplain:0:0:0:0:"),
        std::string("1x2xplain:1.5:0000"), std::string("1x2xplain:nan:0000"),
        std::string("1x2xodd:0.5:0000"), std::string("99999999999999999999x1xplain:")}) {
    EXPECT_THROW(session::directions_of(odd), Error) << odd.substr(0, 40);
  }
}

TEST(Directions, AreAtMostSixteen) {
  EXPECT_EQ(test::refusal([] { Compressor({.directions = 17}); }),
            "fewbit::Compressor: directions is 17, accepted: 0 to 16");
  EXPECT_EQ(test::refusal([] { Compressor({.directions = -1}); }),
            "fewbit::Compressor: directions is -1, accepted: 0 to 16");
}

}  // namespace fewbit::directions_test

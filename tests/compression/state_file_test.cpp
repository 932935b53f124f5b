// What a compressor writes and reads, and what it plans.
#include <fstream>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "fewbit/saved_bytes.hpp"
#include "tests/support/compression_model.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/stored_as.hpp"

namespace fewbit::compression_file_test {

using namespace test;
using torch::autograd::grad;

// Another compressor that takes over in the middle goes on as the first one would have.
TEST(CompressionFile, ALoadedOneGoesOnBitForBit) {
  const std::string path = testing::TempDir() + "/compressor.txt";
  auto model = mlp();
  const at::Tensor x = input() + 3.0;  // the norm's input has a mean
  const auto run = [&](Compressor& compressor, int steps) {
    at::Tensor last;
    for (int step = 0; step < steps; ++step) last = gradients(model, x, &compressor);
    return last;
  };
  Compressor whole({.bits = 1.7});
  at::manual_seed(11);
  run(whole, 3);
  whole.save(path);
  at::Generator generator = at::globalContext().defaultGenerator(at::kCPU);
  const at::Tensor state = generator.get_state();
  const at::Tensor expected = run(whole, 6);
  Compressor resumed({.bits = 1.7});
  resumed.load(path);
  generator.set_state(state);
  EXPECT_TRUE(at::equal(run(resumed, 6), expected));
  EXPECT_EQ(test::places_of(resumed), test::places_of(whole));
}

TEST(CompressionFile, RefusesOtherFiles) {
  const std::string path = testing::TempDir() + "/other.txt";
  Compressor compressor;
  EXPECT_EQ(test::refusal([&] {
              compressor.load("/nowhere/file");
            }).rfind("fewbit::Compressor::load: /nowhere/file", 0),
            0U);
  std::ofstream(path) << "something\n";
  EXPECT_EQ(test::refusal([&] { compressor.load(path); }),
            "fewbit::Compressor::load: " + path +
                ": begins with 'something', accepted: 'fewbit compressor 10'");
  const auto load_site_of = [&](const std::string& bits) {
    const std::string line = "0 0 rotated rotated " + bits + " 1 1 1 0 1 1 1 0 " + bits +
                             " 1 1 1 1 1 1 1 1 1 1 1 -1 0 0 0 coded chosen - 0 0 0 0 0 - aten::mm";
    const std::string places = "0 split 1\n" + line + '\n';
    std::ofstream(path) << "fewbit compressor 10 " << digest(places) << '\n' << places;
    compressor.load(path);
    return line;
  };
  const std::string line = load_site_of("8");  // a site as it should be, but for its bits
  EXPECT_EQ(test::refusal([&] { load_site_of("9"); }),
            "fewbit::Compressor::load: " + path + ": is no site of a compressor: '" +
                std::string(line).replace(20, 1, "9").replace(38, 1, "9") + "'");
}

TEST(CompressionFile, RefusesAFileThatWasCutOrChanged) {
  const std::string path = testing::TempDir() + "/cut.txt";
  Compressor compressor;
  auto model = mlp();
  gradients(model, input(), &compressor);
  compressor.save(path);
  std::ifstream file(path);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  compressor.load(path);
  for (size_t length = 0; length < whole.size(); ++length) {
    std::ofstream(path) << whole.substr(0, length);
    EXPECT_THAT(test::refusal([&] { compressor.load(path); }), testing::HasSubstr(path))
        << whole.substr(0, length);
  }
  std::mt19937 random(21);
  for (int change = 0; change < 500; ++change) {
    std::string changed = whole;
    changed[random() % changed.size()] ^= static_cast<char>(1 + random() % 127);
    std::ofstream(path) << changed;
    EXPECT_THAT(test::refusal([&] { compressor.load(path); }), testing::HasSubstr(path)) << changed;
  }
}

// What is planned is what is kept, to the byte where the model does not change.
TEST(CompressionFile, PlansWhatIsKept) {
  auto model = mlp();
  const at::Tensor x = input();
  const BudgetPreview planned = preview_budgets([&] { return model->forward(x); }, {.bits = 2.5});
  ASSERT_EQ(planned.rows.size(), 7U);
  EXPECT_EQ(planned.rows[0].bits, 0.0);
  for (size_t i = 1; i < planned.rows.size(); ++i) {
    const BudgetPreview::Row& row = planned.rows[i];
    Compressor compressor({.bits = row.bits});
    SavedBytes meter;
    at::Tensor y;
    for (int step = 0; step < 3; ++step) {
      y = at::Tensor();
      meter.reset();
      const auto watch = meter.watch();
      const CompressionScope scope(compressor);
      y = model->forward(x);
    }
    EXPECT_NEAR(static_cast<double>(meter.unique_bytes()), static_cast<double>(row.bytes),
                0.01 * static_cast<double>(row.bytes))
        << row.bits;
  }
  EXPECT_NE(planned.text().find("exact"), std::string::npos);
}

int64_t coded_bytes(const Compressor& compressor) {
  int64_t bytes = 0;
  for (const Compressor::Site& site : compressor.sites()) bytes += site.bytes_after;
  return bytes;
}

// Two places of 6,400 elements, whose constants take 104 bytes each, and an activation of as many.
TEST(CompressionFile, ABudgetOfBytesIsKept) {
  auto model = mlp();
  for (const int64_t bytes : {4000, 5000, 8000, 10000}) {
    Compressor compressor({.bits = 8, .bytes = bytes});
    for (int step = 0; step < 4; ++step) {
      gradients(model, input(), &compressor);
      EXPECT_TRUE(step == 0 || coded_bytes(compressor) <= bytes) << compressor.report();
    }
    EXPECT_GT(coded_bytes(compressor), bytes - 2 * (6400 / 8 + 64)) << compressor.report();
    gradients(model, at::cat({input(), input()}), &compressor);  // which is not known before
    gradients(model, at::cat({input(), input()}), &compressor);
    EXPECT_LE(coded_bytes(compressor), std::max<int64_t>(bytes, 2 * (1700 + 1000) + 3200));
  }
  Compressor least({.bytes = 1});
  for (int step = 0; step < 2; ++step) gradients(model, input(), &least);
  for (const Compressor::Site& site : coded_sites(least)) {
    EXPECT_EQ(site.stored.bits, 1.0) << site.stored.text();
  }
  EXPECT_EQ(least.sites()[0].bytes_after, 6400 / 8) << least.report();
  EXPECT_EQ(test::refusal([] { Compressor({.bytes = -1}); }),
            "fewbit::Compressor: bytes is -1, accepted: 0 for none, or more");
}

// Names with blanks; errors that nobody could measure.
TEST(CompressionFile, HoldsWhateverCameUp) {
  const std::string path = testing::TempDir() + "/odd.txt";
  auto model = mlp();
  Compressor compressor({.bits = 2});
  const at::Tensor x = input();
  x[7][7] = std::numeric_limits<float>::quiet_NaN();
  gradients(model, x, &compressor);
  compressor.save(path);
  Compressor other({.bits = 2});
  other.load(path);
  EXPECT_EQ(test::places_of(other), test::places_of(compressor));
  EXPECT_EQ(coded_sites(other).size(), 2U);
  for (const Compressor::Site& site : coded_sites(other)) {
    EXPECT_EQ(site.stored.bits, 2.0) << site.stored.text();
  }
}

TEST(CompressionFile, HoldsCasts) {
  const std::string path = testing::TempDir() + "/cast.txt";
  auto model = mlp();
  Compressor compressor({.bits = 2});
  compressor.rule("aten::addmm", at::kFloat8_e5m2);
  gradients(model, input(), &compressor);
  compressor.save(path);
  Compressor other({.bits = 2});
  other.load(path);
  EXPECT_EQ(test::places_of(other), test::places_of(compressor));
  EXPECT_THAT(coded_sites(other).at(1).stored, IsCoded("cast, fp8 e5m2", 0));
}

// What another one wrote, while a scope is open: its places are met anew.
TEST(CompressionFile, MayBeReadInsideOfAScope) {
  const std::string path = testing::TempDir() + "/empty.txt";
  Compressor().save(path);
  auto model = mlp();
  Compressor compressor({.bits = 2});
  {
    const CompressionScope scope(compressor);
    const at::Tensor h = input().requires_grad_() * 1.0;
    const at::Tensor weight = at::randn({kWidth, kWidth}).requires_grad_();
    const at::Tensor y = at::mm(h, weight);
    compressor.load(path);
    EXPECT_TRUE(compressor.sites().empty());
    const at::Tensor z = at::mm(h, weight) + model->forward(input());
  }
  EXPECT_EQ(coded_sites(compressor).size(), 2U) << compressor.report();
}

}  // namespace fewbit::compression_file_test

#include <filesystem>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include "calibration/site_statistics.hpp"
#include "fewbit/fewbit.hpp"

namespace fewbit::calibrator_test {

torch::nn::Sequential model_of(int bits) {
  at::manual_seed(4);
  return torch::nn::Sequential(torch::nn::Linear(16, 32), nn::GELU(nn::GELUOptions().bits(bits)),
                               torch::nn::Linear(32, 32), nn::ReLU(), torch::nn::Linear(32, 8),
                               nn::SiLU(nn::SiLUOptions().bits(bits)));
}

void run(torch::nn::Sequential& model, int steps) {
  for (int step = 0; step < steps; ++step) model->forward(at::randn({64, 16}) * 3 + 1);
}

TEST(SiteStatistics, CountEveryElementAndTellChannelsApart) {
  session::SiteStatistics statistics;
  const at::Tensor means = at::tensor({-2.0, 0.0, 5.0}, at::kFloat);
  at::manual_seed(9);
  for (int step = 0; step < 4; ++step) statistics.observe(at::randn({5000, 3}) * 0.5 + means);
  EXPECT_EQ(statistics.elements(), 60000);
  const solver::WeightSpec weight = statistics.weight();
  double total = 0.0;
  for (const double mass : weight.masses) total += mass;
  EXPECT_NEAR(total, 1.0, 1e-12);
  ASSERT_EQ(weight.units.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(weight.units[i].mean, means[static_cast<int64_t>(i)].item<double>(), 0.02);
    EXPECT_NEAR(weight.units[i].spread, 0.5, 0.02);
  }
}

TEST(SiteStatistics, TakeTheSecondDimensionOfImagesAndSixteenBitTypes) {
  session::SiteStatistics statistics;
  statistics.observe(at::randn({2, 7, 4, 4}).to(at::kBFloat16));
  EXPECT_EQ(statistics.weight().units.size(), 7u);
}

TEST(SiteStatistics, SurviveNaNAndInfinity) {
  session::SiteStatistics statistics;
  statistics.observe(at::tensor({0.0, double(NAN), double(INFINITY), -double(INFINITY), 1.0}));
  const solver::WeightSpec weight = statistics.weight();
  EXPECT_EQ(weight.edges.front(), -session::SiteStatistics::kReach);
  EXPECT_EQ(weight.edges.back(), session::SiteStatistics::kReach);
}

TEST(Calibrator, LowersTheSmoothedBiasOfEverySite) {
  torch::nn::Sequential model = model_of(2);
  Calibrator calibrator(*model);
  run(model, 5);
  const std::vector<Calibrator::Fit> fits = calibrator.fit();
  ASSERT_EQ(fits.size(), 3u);
  EXPECT_EQ(fits[0].site, "1");
  EXPECT_EQ(fits[0].elements, 5 * 64 * 32);
  EXPECT_LT(fits[0].bias_after, fits[0].bias_before);
  EXPECT_EQ(fits[1].note, "exact");
  EXPECT_LT(fits[2].bias_after, fits[2].bias_before);
  EXPECT_NE(calibrator.report().find("->"), std::string::npos);
  const auto act = std::dynamic_pointer_cast<nn::GELUImpl>(model->ptr(1));
  EXPECT_EQ(act->table().bits(), 2);
  EXPECT_NE(act->table().name(), "smoothed_normal_b2");
}

TEST(Calibrator, LowersTheSquaredErrorAboveFourBits) {
  torch::nn::Sequential model(nn::GELU(nn::GELUOptions().bits(5)));
  Calibrator calibrator(*model);
  model->forward(at::randn({200, 50}) * 0.4 - 0.6);
  const Calibrator::Fit fit = calibrator.fit().at(0);
  EXPECT_LT(fit.error_after, 0.7 * fit.error_before);
}

TEST(Calibrator, WatchesUntilTheFitOnly) {
  torch::nn::Sequential model = model_of(3);
  Calibrator calibrator(*model);
  run(model, 1);
  calibrator.fit();
  run(model, 3);
  EXPECT_EQ(calibrator.fits().at(0).elements, 64 * 32);
}

TEST(Calibrator, SavesTablesThatAnotherModelLoads) {
  const std::string folder = testing::TempDir() + "fewbit_calibrated";
  std::filesystem::remove_all(folder);
  torch::nn::Sequential model = model_of(2);
  Calibrator calibrator(*model);
  run(model, 2);
  calibrator.fit();
  calibrator.save(folder);
  torch::nn::Sequential other = model_of(3);
  Calibrator::load(*other, folder);
  for (const int64_t index : {1, 5}) {
    const auto first = std::dynamic_pointer_cast<nn::ActivationModule>(model->ptr(index));
    const auto second = std::dynamic_pointer_cast<nn::ActivationModule>(other->ptr(index));
    EXPECT_EQ(first->table().data().levels, second->table().data().levels);
    EXPECT_EQ(first->table().data().thresholds, second->table().data().thresholds);
  }
  EXPECT_THROW(Calibrator::load(*other, folder + "/none"), c10::Error);
}

TEST(Calibrator, RefusesAModelWithoutFewBitModules) {
  torch::nn::Linear plain(3, 3);
  EXPECT_THROW(Calibrator{*plain}, c10::Error);
}

}  // namespace fewbit::calibrator_test

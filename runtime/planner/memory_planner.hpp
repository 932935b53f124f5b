#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compression/compression.hpp"
#include "fewbit/memory_plan.hpp"
#include "planner/measured_step.hpp"
#include "planner/step_profiler.hpp"

namespace fewbit::session {

/// Finds out what there is to choose from, and chooses.
class MemoryPlanner {
 public:
  using Forward = std::function<at::Tensor()>;
  using Parameters = torch::OrderedDict<std::string, at::Tensor>;

  MemoryPlanner(Forward forward, const CompressorOptions& options);

  MemoryPlan plan(const MemoryBudget& budget, const Parameters& parameters);

 private:
  /// A model's sites stored in one way, as far as they can be.
  struct Trial {
    Compressor compressor;
    std::vector<Compression::SiteFacts> sites = {};
    StepProfiler::Times times = {};
    MeasuredStep step = {};
  };

  MeasuredStep measured(const Forward& forward) const;
  void run(Trial& trial) const;
  void survey_coded(const Parameters& parameters);
  void measure(Storage keep);
  bool add_choices(Storage keep);
  void share_memory();
  double beyond_exact(const MemoryPlan::Site& planned, double seconds) const;
  void count_from_exact(Storage keep, double step);
  int64_t beside_sites(const Trial& trial) const;
  bool correct_recomputed(const StepProfiler::Times& times);
  double choose_kept(int64_t bytes);
  double choose_within_budget();
  double search_peak(double price, MemoryPlan above);
  void propose_checkpoints(double price);

  Forward forward_;
  CompressorOptions options_;
  at::Device device_ = at::kCPU;
  MemoryPlan plan_;
  std::map<SiteKey, size_t> numbers_;         ///< of sites
  std::vector<std::optional<size_t>> roots_;  ///< of sites
  std::set<SiteKey> rejected_;                ///< not to be recomputed
  StepProfiler::Times exact_;
  double coded_step_ = 0.0;  ///< of all sites coded, what these take left out
};

}  // namespace fewbit::session

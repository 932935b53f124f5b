#include "trellis/trellis.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>

namespace fewbit::solver {

namespace {

constexpr int kSubsets = 4;
constexpr int kRounds = 30;
constexpr size_t kFitted = size_t{1} << 17;
constexpr size_t kMeasured = size_t{1} << 20;
/// Of what is kept.
double rounded(double value) {
  return std::round(value * 1e5) / 1e5;
}

/// Of N(0, 1), the same everywhere: what the standard says of the engine, and Box and Muller's way.
std::vector<double> normal_sample(size_t count, uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto uniform = [&] { return (static_cast<double>(engine() >> 11) + 0.5) * 0x1p-53; };
  std::vector<double> sample(count);
  for (size_t i = 0; i + 1 < count; i += 2) {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    const double angle = 2.0 * std::numbers::pi * uniform();
    sample[i] = radius * std::cos(angle);
    sample[i + 1] = radius * std::sin(angle);
  }
  return sample;
}

/// The subset of the element whose bit is the lowest of `window`, the bit before it the next, ...
int subset_of(int states, int window) {
  const int u = window & 1, u1 = window >> 1 & 1, u2 = window >> 2 & 1, u3 = window >> 3 & 1;
  return states == 4 ? u1 + 2 * (u ^ u2) : u2 + 2 * (u ^ u1 ^ u3);
}

/// The best code for each subset, and its squared error.
struct Nearest {
  int place[kSubsets];
  double cost[kSubsets];
};

Nearest nearest(const std::vector<double>& levels, double x) {
  const int count = static_cast<int>(levels.size());
  const int above =
      static_cast<int>(std::lower_bound(levels.begin(), levels.end(), x) - levels.begin());
  Nearest result;
  for (int subset = 0; subset < kSubsets; ++subset) {
    // The subset's level that is the last below x, and the next one.
    const int below = above - 1 - ((above - 1 - subset) % kSubsets + kSubsets) % kSubsets;
    result.cost[subset] = std::numeric_limits<double>::infinity();
    for (const int level : {below, below + kSubsets}) {
      if (level < 0 || level >= count) continue;
      const double rest = x - levels[static_cast<size_t>(level)];
      if (rest * rest >= result.cost[subset]) continue;
      result.cost[subset] = rest * rest;
      result.place[subset] = level;
    }
  }
  return result;
}

/// States are the bits before an element, the latest lowest.
class Viterbi {
 public:
  explicit Viterbi(const TrellisQuantizer& quantizer) : quantizer_(quantizer) {}

  /// The level of each element of a run on the best path; its bits in `bits`.
  void run(const double* x, size_t count, int* levels, int* bits) {
    const auto states = static_cast<size_t>(quantizer_.states);
    std::vector<double> cost(states, std::numeric_limits<double>::infinity()), next(states);
    cost[0] = 0.0;
    near_.resize(count);
    from_.resize(count * states);
    for (size_t t = 0; t < count; ++t) {
      near_[t] = nearest(quantizer_.levels, x[t]);
      for (size_t to = 0; to < states; ++to) {
        const size_t first = to >> 1, second = first + states / 2;
        const double with_first = cost[first] + cost_of(t, first, to);
        const double with_second = cost[second] + cost_of(t, second, to);
        from_[t * states + to] = with_second < with_first ? second : first;
        next[to] = std::min(with_first, with_second);
      }
      cost.swap(next);
    }
    auto state = static_cast<size_t>(std::min_element(cost.begin(), cost.end()) - cost.begin());
    for (size_t t = count; t-- > 0;) {
      const size_t before = from_[t * states + state];
      levels[t] = near_[t].place[subset(before, state)];
      bits[t] = static_cast<int>(state & 1);
      state = before;
    }
  }

 private:
  int subset(size_t before, size_t to) const {
    return subset_of(quantizer_.states, static_cast<int>(before << 1 | (to & 1)));
  }
  double cost_of(size_t t, size_t before, size_t to) const {
    return near_[t].cost[subset(before, to)];
  }

  const TrellisQuantizer& quantizer_;
  std::vector<Nearest> near_;
  std::vector<size_t> from_;
};

/// What the best paths of all runs of a sample make of it.
struct Fit {
  std::vector<double> sum, count;  ///< by level
  double squares = 0.0;            ///< of the errors
};

Fit run_all(const TrellisQuantizer& quantizer, const std::vector<double>& sample) {
  const size_t levels = quantizer.levels.size();
  Fit fit{std::vector<double>(levels), std::vector<double>(levels), 0.0};
  Viterbi viterbi(quantizer);
  int path[kTrellisRun], bits[kTrellisRun];
  for (size_t first = 0; first < sample.size(); first += kTrellisRun) {
    viterbi.run(&sample[first], kTrellisRun, path, bits);
    for (size_t t = 0; t < kTrellisRun; ++t) {
      const auto level = static_cast<size_t>(path[t]);
      const double rest = sample[first + t] - quantizer.levels[level];
      fit.sum[level] += sample[first + t];
      fit.count[level] += 1.0;
      fit.squares += rest * rest;
    }
  }
  return fit;
}

/// Of a level and its mirror image together.
double mirrored_mean(const Fit& fit, size_t level) {
  const size_t mirror = fit.sum.size() - 1 - level;
  return (fit.sum[level] - fit.sum[mirror]) / (fit.count[level] + fit.count[mirror]);
}

}  // namespace

TrellisQuantizer fit_trellis(int bits, int states) {
  TrellisQuantizer quantizer{bits, states, {}, 0.0};
  const size_t count = size_t{2} << bits;
  const double most = 1.0 + 0.55 * bits;  // evenly spread at first
  for (size_t j = 0; j < count; ++j) {
    quantizer.levels.push_back(
        most * (2.0 * static_cast<double>(j) / static_cast<double>(count - 1) - 1.0));
  }
  const std::vector<double> sample = normal_sample(kFitted, 1);
  for (int round = 0; round < kRounds; ++round) {
    const Fit fit = run_all(quantizer, sample);
    for (size_t j = 0; j < count; ++j) quantizer.levels[j] = mirrored_mean(fit, j);
    std::sort(quantizer.levels.begin(), quantizer.levels.end());
  }
  for (double& level : quantizer.levels) level = rounded(level);
  const std::vector<double> others = normal_sample(kMeasured, 2);
  quantizer.error = rounded(run_all(quantizer, others).squares / static_cast<double>(kMeasured));
  return quantizer;
}

std::vector<TrellisQuantizer> shipped_trellises() {
  std::vector<TrellisQuantizer> quantizers;
  for (const int states : {4, 8}) {
    for (int bits = 1; bits <= kMostTrellisBits; ++bits) {
      quantizers.push_back(fit_trellis(bits, states));
    }
  }
  return quantizers;
}

TrellisPath best_path(const TrellisQuantizer& quantizer, const std::vector<double>& run) {
  std::vector<int> levels(run.size()), bits(run.size());
  Viterbi(quantizer).run(run.data(), run.size(), levels.data(), bits.data());
  TrellisPath path;
  for (size_t t = 0; t < run.size(); ++t) {
    path.codes.push_back(levels[t] / kSubsets * 2 + bits[t]);
    path.values.push_back(quantizer.levels[static_cast<size_t>(levels[t])]);
  }
  return path;
}

}  // namespace fewbit::solver

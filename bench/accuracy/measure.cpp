#include "bench/accuracy/measure.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <thread>

#include "tests/support/allowed_error.hpp"

namespace fewbit::bench {

namespace {

/// Up to kChunk floats of one sign, as bit patterns.
struct Chunk {
  uint32_t first;
  uint32_t stride;
  size_t count;
};

std::vector<Chunk> chunks_of(std::span<const FloatRange> ranges) {
  std::vector<Chunk> chunks;
  for (const FloatRange& range : ranges) {
    const uint64_t count = (uint64_t{range.end} - range.begin + range.stride - 1) / range.stride;
    for (uint64_t i = 0; i < count; i += kChunk) {
      const auto first = static_cast<uint32_t>(range.begin + i * range.stride);
      const size_t size = std::min<uint64_t>(kChunk, count - i);
      chunks.push_back({first, range.stride, size});
      chunks.push_back({first | 0x80000000u, range.stride, size});
    }
  }
  return chunks;
}

/// Raises `worst` to the largest |actual - exact| * scale; points without an exact result pass.
void raise(double& worst, float& at, std::span<const float> x, std::span<const float> actual,
           std::span<const double> exact, std::span<const double> scale) {
  const auto error = [&](size_t i) {
    return std::fabs(static_cast<double>(actual[i]) - exact[i]) * scale[i];
  };
  // Almost always nothing is above, and a loop without a branch finds that out.
  int above = 0;
  for (size_t i = 0; i < x.size(); ++i) above |= !(error(i) <= worst);
  if (above == 0) return;
  for (size_t i = 0; i < x.size(); ++i) {
    if (error(i) <= worst || std::isnan(exact[i])) continue;
    worst = std::isnan(error(i)) ? std::numeric_limits<double>::infinity() : error(i);
    at = x[i];
  }
}

/// One thread's work.
class Worker {
 public:
  Worker(const Reference& reference, const std::vector<Subject>& subjects)
      : reference_(reference), subjects_(subjects), result_(subjects.size()) {}

  void run(const Chunk& chunk) {
    for (size_t i = 0; i < kChunk; ++i) {
      const auto step = static_cast<uint32_t>(std::min(i, chunk.count - 1));
      x_[i] = std::bit_cast<float>(chunk.first + step * chunk.stride);
    }
    reference_(x_, exact_value_, exact_slope_);
    scale(exact_value_, value_per_unit_, value_per_ulp_);
    scale(exact_slope_, slope_per_unit_, slope_per_ulp_);
    for (size_t i = 0; i < subjects_.size(); ++i) {
      subjects_[i].evaluate(x_.data(), y_.data(), dy_.data());
      Worst& value = result_[i].value;
      Worst& slope = result_[i].slope;
      raise(value.units, value.units_at, x_, y_, exact_value_, value_per_unit_);
      raise(value.ulps, value.ulps_at, x_, y_, exact_value_, value_per_ulp_);
      raise(slope.units, slope.units_at, x_, dy_, exact_slope_, slope_per_unit_);
      raise(slope.ulps, slope.ulps_at, x_, dy_, exact_slope_, slope_per_ulp_);
    }
  }

  const std::vector<Accuracy>& result() const { return result_; }

 private:
  void scale(const std::vector<double>& exact, std::vector<double>& per_unit,
             std::vector<double>& per_ulp) const {
    for (size_t i = 0; i < kChunk; ++i) {
      per_unit[i] = 1.0 / allowed_error(exact[i], static_cast<double>(x_[i]));
      per_ulp[i] = 1.0 / float_ulp(exact[i]);
    }
  }

  const Reference& reference_;
  const std::vector<Subject>& subjects_;
  std::vector<Accuracy> result_;
  std::vector<float> x_ = std::vector<float>(kChunk);
  std::vector<float> y_ = x_;
  std::vector<float> dy_ = x_;
  std::vector<double> exact_value_ = std::vector<double>(kChunk);
  std::vector<double> exact_slope_ = exact_value_;
  std::vector<double> value_per_unit_ = exact_value_;
  std::vector<double> value_per_ulp_ = exact_value_;
  std::vector<double> slope_per_unit_ = exact_value_;
  std::vector<double> slope_per_ulp_ = exact_value_;
};

void merge(Worst& into, const Worst& from) {
  if (from.units > into.units) {
    into.units = from.units;
    into.units_at = from.units_at;
  }
  if (from.ulps > into.ulps) {
    into.ulps = from.ulps;
    into.ulps_at = from.ulps_at;
  }
}

}  // namespace

std::vector<FloatRange> domain_binades(uint32_t stride) {
  constexpr auto kSmall = std::bit_cast<uint32_t>(0x1p-26f);
  constexpr auto kEnd = std::bit_cast<uint32_t>(16.0f);
  return {{0, kSmall, 97 * stride}, {kSmall, kEnd, stride}};
}

std::vector<Accuracy> measure(const Reference& reference, const std::vector<Subject>& subjects,
                              std::span<const FloatRange> ranges, const ShareDone& progress) {
  const std::vector<Chunk> chunks = chunks_of(ranges);
  std::vector<Accuracy> result(subjects.size());
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  const auto work = [&] {
    Worker worker(reference, subjects);
    for (size_t i = next++; i < chunks.size(); i = next++) {
      worker.run(chunks[i]);
      if (!progress || i % 64 != 0) continue;
      const std::lock_guard lock(mutex);
      progress(static_cast<double>(i) / static_cast<double>(chunks.size()));
    }
    const std::lock_guard lock(mutex);
    for (size_t i = 0; i < result.size(); ++i) {
      merge(result[i].value, worker.result()[i].value);
      merge(result[i].slope, worker.result()[i].slope);
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  threads.clear();
  return result;
}

Standing standing_of(const Worst& ours, const Worst& theirs) {
  constexpr double kReference = 1e-6;  // more than the reference's own rounding
  if (ours.units > 1.0) return Standing::beyond_bound;
  if (ours.units <= theirs.units + kReference) return Standing::no_worse;
  return ours.units <= 0.5 ? Standing::close : Standing::worse;
}

}  // namespace fewbit::bench

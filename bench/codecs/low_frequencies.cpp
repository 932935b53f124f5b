// Does it help rotated codes to keep low frequencies apart, as DIVISION does for equal steps?
#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>

#include "bench/codecs/draws.hpp"
#include "bench/codecs/forms.hpp"
#include "bench/codecs/studies.hpp"

namespace fewbit::bench {

namespace {

using examples::number;

constexpr int kMostBits = 8;
constexpr double kMeanBits = 16.0;  // bf16

/// A whole run's squared error in rotated codes of so many bits.
double rotated_error_of(const at::Tensor& x, int bits, int64_t draws) {
  const at::Tensor run = x.flatten();
  const Form form = rotated(bits, 0);
  double sum = 0.0;
  for (int64_t draw = 0; draw < draws; ++draw) {
    sum += energy_of(form.decoded(run, stream(2, draw)).sub_(run));
  }
  return sum / static_cast<double>(draws);
}

/// Of 1, 2, ... bits.
std::vector<double> rotated_errors(const at::Tensor& x, int64_t draws) {
  std::vector<double> errors;
  for (int bits = 1; bits <= kMostBits; ++bits) {
    errors.push_back(rotated_error_of(x, bits, draws));
  }
  return errors;
}

/// As a mixture of places with whole bits has them: on the line between the logarithms.
double error_at(const std::vector<double>& errors, double bits) {
  const double place = std::clamp(bits, 1.0, double{kMostBits}) - 1.0;
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, errors.size() - 1);
  const double share = place - std::floor(place);
  return std::pow(errors[below], 1.0 - share) * std::pow(errors[above], share);
}

void add_rows(examples::Sheet& sheet, const SavedRun& run, int64_t block, int64_t draws) {
  const at::Tensor& x = run.map;
  const std::vector<int64_t> blocks = {std::min(block, x.size(2)), std::min(block, x.size(3))};
  const at::Tensor means =
      at::avg_pool2d(x, blocks, blocks, 0, /*ceil_mode=*/true, /*count_include_pad=*/false)
          .to(at::kBFloat16)
          .to(x.scalar_type());
  const at::Tensor spread = means.repeat_interleave(blocks[0], 2)
                                .repeat_interleave(blocks[1], 3)
                                .narrow(2, 0, x.size(2))
                                .narrow(3, 0, x.size(3));
  const at::Tensor rest = x.sub(spread).contiguous();
  const double energy = energy_of(x);
  const double more =
      kMeanBits * static_cast<double>(means.numel()) / static_cast<double>(x.numel());
  const std::vector<double> whole = rotated_errors(x, draws);
  for (int bits = 1; bits <= 4; ++bits) {
    const double apart = rotated_error_of(rest, bits, draws);
    const double as_many = error_at(whole, bits + more);
    sheet.rows.push_back(
        {run.model, run.kind, std::to_string(x.size(2)) + " x " + std::to_string(x.size(3)),
         std::to_string(block), number(1.0 - energy_of(rest) / energy, 2), number(bits + more),
         number(apart / energy), number(as_many / energy), number(apart / as_many)});
  }
}

}  // namespace

examples::Sheet low_frequencies_apart(const std::vector<SavedRun>& runs, int64_t draws) {
  examples::Sheet sheet{"Low frequencies apart",
                        {"model", "saved", "maps", "block", "energy in means", "bits",
                         "apart, rotated", "rotated", "apart / rotated"},
                        {}};
  for (const SavedRun& run : runs) {
    if (!run.map.defined()) continue;
    for (const int64_t block : {2, 4, 8}) add_rows(sheet, run, block, draws);
  }
  return sheet;
}

}  // namespace fewbit::bench

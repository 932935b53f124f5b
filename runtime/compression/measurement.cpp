#include "compression/measurement.hpp"

#include <cmath>
#include <memory>
#include <vector>

#include <ATen/ops/empty_strided.h>

#include "codecs/common.hpp"

namespace fewbit::session {

namespace {

/// As they come back, if they do, at the cost of their share.
ByParts parts_of(const codecs::Encoded& coded, const at::Tensor& run) {
  if (!coded.has_parts()) return coded.decoded();
  return {run.device(), run.numel(), 1,
          [&](int64_t begin, int64_t end) { return coded.decoded(begin, end); }};
}

/// What a norm makes of elements that lie as those of run do.
ByParts normalized(const ByParts& elements, const at::Tensor& run,
                   const codecs::Statistics& statistics) {
  const codecs::Rows rows(run);
  const bool is_by_rows = rows.are_outermost();
  const int64_t step = is_by_rows ? rows.begin(1) : run.numel();
  return {run.device(), run.numel(), step,
          [=, strides = run.strides().vec()](int64_t begin, int64_t end) {
            const int64_t first = begin / step, last = end / step;
            std::vector<int64_t> sizes = run.sizes().vec();
            if (is_by_rows) sizes[0] = last - first;
            const codecs::Statistics some =
                is_by_rows ? codecs::statistics_of_rows(statistics, run.dim(), first, last)
                           : statistics;
            const at::Tensor part = elements.part(begin, end).as_strided(sizes, strides);
            const at::Tensor made = codecs::normalized(part, some);
            return made.as_strided({made.numel()}, {1});
          }};
}

/// What its gradient is linear in: of a norm what that makes of it.
double error_in(const Subject& subject, const SavePolicy& save_policy, const at::Tensor& run,
                const ByParts& decoded) {
  if (!subject.statistics) return error_of(run, decoded, save_policy.is_norm);
  return error_of(normalized(run, run, *subject.statistics),
                  normalized(decoded, run, *subject.statistics), save_policy.is_norm);
}

/// The codec with the least error there in so many bits, and its errors.
Measured least_error(const Coder& coder, const Subject& subject, const SavePolicy& save_policy,
                     int bits, const at::Tensor& run, const codecs::RandomStream& random,
                     const std::optional<CodedRun>& coded) {
  constexpr double kWorthAPass = 0.8;  // of the error without
  const auto coded_by = [&](const codecs::CodecPointer& codec) {
    const bool is_known = coded && coded->codec == codecs::text_of(*codec);
    return is_known ? coded->run : codec->encode(run, random);
  };
  std::optional<Measured> least;
  std::shared_ptr<const codecs::Encoded> best;
  for (const CodecKind kind : coder.kinds(save_policy, subject)) {
    const auto again = coded_by(coder.codec(kind, bits, &subject));
    const double error = error_in(subject, save_policy, run, parts_of(*again, run));
    const double needed = kind == CodecKind::normalized ? kWorthAPass : 1.0;
    if (least && !(error < needed * least->error)) continue;
    least = {kind, error, 0.0, bits};
    best = again;
  }
  double error = least->error;
  if (subject.directions) {
    const auto again = coded_by(coder.beside_directions(bits, subject));
    const double beside = error_in(subject, save_policy, run, parts_of(*again, run));
    least->error_beside_directions = beside;
    if (coded && coded->run == again) {
      best = again;
      error = beside;
    }
  }
  const double median = median_error_of(run, parts_of(*best, run), save_policy.is_norm);
  least->median_share = error > 0.0 ? median / error : 0.0;
  return *least;
}

}  // namespace

ByParts parts_of(const Shown& shown, const at::Tensor& run) {
  const auto laid_out = [run](const at::Tensor& part) {
    const at::Tensor again = at::empty_strided(part.sizes(), run.strides(), run.options());
    return again.copy_(part).as_strided({again.numel()}, {1});
  };
  const codecs::Rows rows(run);
  if (!rows.are_outermost() || !shown.has_rows()) return laid_out(shown.tensor());
  const int64_t step = rows.begin(1);
  return {run.device(), run.numel(), step, [=](int64_t begin, int64_t end) {
            return laid_out(shown.rows(begin / step, end / step));
          }};
}

std::optional<Measured> measure(const Coder& coder, const Subject& subject,
                                const SavePolicy& save_policy, int bits, const at::Tensor& run,
                                const std::optional<CodedRun>& coded,
                                const codecs::RandomStream& random) {
  Measured least{};
  if (is_cast(save_policy.storage)) {
    const ByParts decoded = parts_of(*coded->run, run);
    least = {CodecKind::rotated, error_in(subject, save_policy, run, decoded), 0.0, 0};
    const double median = median_error_of(run, decoded, save_policy.is_norm);
    if (least.error > 0.0) least.median_share = median / least.error;
  } else if (save_policy.takes_bits()) {
    least = least_error(coder, subject, save_policy, bits, run, random, coded);
    if (least.error == 0.0 && bits > 1) {
      // All that a short type tells is held: that says nothing of fewer bits.
      least = least_error(coder, subject, save_policy, 1, run, random, {});
    }
    const bool is_log_softmax =
        save_policy.storage == StorageKind::probabilities && save_policy.factor == Factor::product;
    if (is_log_softmax) least.energy_share = energy_share_of(run);
  } else {
    return std::nullopt;
  }
  // Of a tensor that is not finite there is nothing to split bits by.
  return std::isfinite(least.error) ? std::optional(least) : std::nullopt;
}

}  // namespace fewbit::session

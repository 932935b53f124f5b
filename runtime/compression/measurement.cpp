#include "compression/measurement.hpp"

#include <cmath>

#include "compression/allocation/error.hpp"

namespace fewbit::session {

namespace {

/// What its gradient is linear in: of a norm what that makes of it.
double error_in(const Subject& subject, const SavePolicy& save_policy, const at::Tensor& run,
                const at::Tensor& decoded) {
  if (!subject.statistics) return error_of(run, decoded, save_policy.is_norm);
  const at::Tensor back = decoded.as_strided(run.sizes(), run.strides());
  const at::Tensor again = codecs::normalized(back, *subject.statistics);
  return error_of(codecs::normalized(run, *subject.statistics),
                  again.as_strided({again.numel()}, {1}), save_policy.is_norm);
}

/// The codec with the least error there in so many bits, and its errors.
Measured least_error(const Coder& coder, const Subject& subject, const SavePolicy& save_policy,
                     int bits, const at::Tensor& run, const codecs::RandomStream& random,
                     const std::optional<CodedRun>& coded) {
  constexpr double kWorthAPass = 0.8;  // of the error without
  std::optional<Measured> least;
  at::Tensor best;
  for (const CodecKind kind : coder.kinds(save_policy, subject)) {
    const codecs::CodecPointer codec = coder.codec(kind, bits, &subject);
    const bool is_known = coded && coded->codec == codecs::text_of(*codec);
    const at::Tensor decoded =
        is_known ? coded->run.decoded() : codec->encode(run, random)->decoded();
    const double error = error_in(subject, save_policy, run, decoded);
    const double needed = kind == CodecKind::normalized ? kWorthAPass : 1.0;
    if (least && !(error < needed * least->error)) continue;
    least = {kind, error, 0.0, bits};
    best = decoded;
  }
  least->median_error = median_error_of(run, best, save_policy.is_norm);
  return *least;
}

}  // namespace

std::optional<Measured> measure(const Coder& coder, const Subject& subject,
                                const SavePolicy& save_policy, int bits, const at::Tensor& run,
                                const std::optional<CodedRun>& coded,
                                const codecs::RandomStream& random) {
  Measured least{};
  if (is_cast(save_policy.storage)) {
    const at::Tensor decoded = coded->run.decoded();
    least = {CodecKind::rotated, error_in(subject, save_policy, run, decoded),
             median_error_of(run, decoded, save_policy.is_norm), 0};
  } else if (save_policy.takes_bits()) {
    least = least_error(coder, subject, save_policy, bits, run, random, coded);
    if (least.error == 0.0 && bits > 1) {
      // All that a short type tells is held: that says nothing of fewer bits.
      least = least_error(coder, subject, save_policy, 1, run, random, {});
    }
  } else {
    return std::nullopt;
  }
  // Of a tensor that is not finite there is nothing to split bits by.
  return std::isfinite(least.error) ? std::optional(least) : std::nullopt;
}

}  // namespace fewbit::session

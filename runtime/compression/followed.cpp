// What element-wise operations save waits until it is known who takes their results: behind a
// logarithm of a square no error of it is small, behind a mean of squares all are.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/square.h>
#include <c10/core/StreamGuard.h>
#include <c10/util/ScopeExit.h>
#include <c10/util/accumulate.h>

#include "compression/probabilities.hpp"
#include "compression/recorder.hpp"
#include "dispatch/activation_call.hpp"
#include "ops/activation_arguments.hpp"
#include "ops/exact_gradient.hpp"
#include "ops/layout.hpp"
#include "trace/streams.hpp"

namespace fewbit::session {

namespace {

/// Elements for which a mean or a deviation of theirs costs little, and so many that it may cost a
/// bit of each where the other factor says that their rows are unlike.
constexpr int64_t kMany = 64, kSome = 32;

/// What is recomputed, in the order that the saved tensor has in memory.
class Flat final : public ChangingRun {
 public:
  Flat(Shown shown, const at::Tensor& run)
      : shown_(std::move(shown)), sizes_(run.sizes().vec()), strides_(run.strides().vec()) {}

  at::Tensor decoded() const override {
    const at::Tensor shown = shown_.tensor();
    const at::Tensor run = at::empty_strided(sizes_, strides_, shown.options());
    run.copy_(shown);
    return run.as_strided({run.numel()}, {1});
  }
  at::TensorList tensors() const override { return shown_.run->tensors(); }
  bool is_settled() const override { return session::is_settled(*shown_.run); }
  void when_changed(const std::function<void()>& tell) const override {
    session::when_changed(*shown_.run, tell);
  }

 private:
  Shown shown_;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> strides_;
};

/// Which dimension a norm of so many channels takes for these, behind a transposition too: the
/// second or the only one as long; -1: none, or too short for what they cost.
int64_t dimension_of(const at::Tensor& run, int64_t channels) {
  if (channels == 0 || run.dim() < 2 || run.numel() < kMany * channels) return -1;
  if (run.size(1) == channels) return 1;
  const at::IntArrayRef sizes = run.sizes();
  if (std::ranges::count(sizes, channels) != 1) return -1;
  return std::ranges::find(sizes, channels) - sizes.begin();
}

/// Of channels, whose means and deviations are the norm's that takes them.
codecs::Statistics statistics_of_channels(const at::Tensor& run, int64_t dimension) {
  std::vector<int64_t> others;
  for (int64_t i = 0; i < run.dim(); ++i) {
    if (i != dimension) others.push_back(i);
  }
  const at::Tensor x = run.to(at::kFloat), mean = at::mean(x, others, /*keepdim=*/true);
  constexpr double kLeast = 1e-30;
  const at::Tensor variance = at::mean(at::square(x - mean), others, /*keepdim=*/true);
  codecs::Statistics statistics =
      codecs::statistics_of(mean, at::rsqrt(variance.clamp_min(kLeast)));
  statistics.is_kept_anyway = false;
  return statistics;
}

/// Over all dimensions but the last, or those in which the other factor has one element.
at::Tensor mean_square_of(const at::Tensor& run, at::IntArrayRef other) {
  const bool is_scale = !other.empty() && static_cast<int64_t>(other.size()) <= run.dim() &&
                        c10::multiply_integers(other) * kSome <= run.numel();
  std::vector<int64_t> over;
  for (int64_t i = 1; i <= run.dim(); ++i) {
    const bool is_beside = i <= static_cast<int64_t>(other.size());
    const bool is_one = !is_beside || other[other.size() - static_cast<size_t>(i)] == 1;
    if (is_scale ? is_one : i > 1) over.push_back(-i);
  }
  if (over.empty()) return {};
  const auto type = run.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor norm = at::linalg_vector_norm(run, 2, over, /*keepdim=*/true, type);
  const auto count = static_cast<double>(run.numel()) / static_cast<double>(norm.numel());
  return at::square(norm / std::sqrt(count));
}

/// Of a tensor that norms by its root take the mean square of: of rows, where groups of codes cross
/// them, or of what else that has one of. Of a tensor that a function takes, which may begin with
/// such a norm, of rows. Of factors otherwise, of what the other factor scales, or of columns.
std::optional<codecs::Statistics> statistics_of_squares(const at::Tensor& run, Factor factor,
                                                        at::Tensor mean_square,
                                                        at::IntArrayRef other, int64_t group) {
  if (run.dim() < 2) return std::nullopt;
  if (factor == Factor::input)
    mean_square = at::mean(at::square(run.to(at::kFloat)), -1, /*keepdim=*/true);
  if (!mean_square.defined()) mean_square = mean_square_of(run, other);
  if (!mean_square.defined() || mean_square.numel() * kSome > run.numel()) return std::nullopt;
  std::vector<int64_t> rows = run.sizes().vec();
  rows.back() = 1;
  if (mean_square.sizes() == at::IntArrayRef(rows) && run.size(-1) % group == 0) {
    return std::nullopt;
  }
  if (mean_square.dim() > run.dim() || mean_square.numel() < 2) return std::nullopt;
  for (int64_t i = 1; i <= mean_square.dim(); ++i) {
    if (mean_square.size(-i) != 1 && mean_square.size(-i) != run.size(-i)) return std::nullopt;
  }
  constexpr double kLeast = 1e-30;  // of rows of zeros: an error there is divided by as little
  codecs::Statistics statistics =
      codecs::statistics_of({}, at::rsqrt(mean_square.clamp_min(kLeast)));
  statistics.is_kept_anyway = false;
  return statistics;
}

}  // namespace

bool CompressionUser::waits_for_consumer(const Saved& saved) const {
  const SaveDecision& decided = saved.decision;
  if (!decided.takes_bits()) return false;
  if (decided.factor == Factor::input && saved.event.argument < 0) return false;
  if (decided.is_observed) return false;
  // Of what is coded while its operation runs (session/sensitivities.hpp).
  const bool is_watched = compression_->coder().follows_gradients() &&
                          Sensitivities::follows(saved.event.facts.operation);
  return !is_watched;
}

/// The same elements may wait already, or others may have coded them.
std::unique_ptr<const PackedTensor> CompressionUser::code_later(
    const Saved& saved, Run& known,
    const std::optional<RecomputeTracker::Recomputed>& to_recompute) {
  const auto& [tensor, view, event, decided, site] = saved;
  const at::Tensor run = ops::dense(view);
  const uint64_t sample = sample_of(run);
  RunPointer encoded = known.encoded.lock();
  std::shared_ptr<StoredRun> stored = known.stored.lock();
  const bool is_known = encoded && stored && known.sample == sample;
  if (is_known) forward_.notes->raise(known.site, decided);
  latest_ = is_known ? known.site : site;
  Followed followed{stored, view, event, decided, *latest_, current_stream(view)};
  if (decided.factor == Factor::product && event.argument >= 0) {
    const c10::IValue& other = event.arguments->at(static_cast<size_t>(1 - event.argument));
    if (other.isTensor()) followed.other = other.toTensor().sizes().vec();
  }
  followed.event.arguments = nullptr;  // which end with the operation
  followed.recomputed = to_recompute;
  followed.is_recomputed = to_recompute.has_value();
  if (!is_known) {
    if (!to_recompute && decided.compares_recomputed()) {
      followed.recomputed = tracker_.find(view, event);
    }
    stored = std::make_shared<StoredRun>(view);
    encoded = remember(saved, run, sample, stored, known, false);
  } else if (stored->is_settled()) {
    followed.codes = std::exchange(stored, std::make_shared<StoredRun>(view));
    uses_.add(view, stored, site);
    encoded = stored;
  }
  followed.run = stored;
  undecided_.try_emplace(followed.site);
  const auto decide = [this, followed](const Consumers::Decision& decision) {
    if (decision.is_exact) {
      keep_exact(followed, decision.reason());
    } else {
      keep_coded(followed, decision);
      if (uses_.exceeds_exact(followed.input)) keep_exact(followed, ExactReason::requested);
    }
    measure_what_comes_of(followed.site);
  };
  const std::string& operation = event.facts.operation;
  if (decided.factor == Factor::input) {
    const at::Tensor input = event.arguments->at(static_cast<size_t>(event.argument)).toTensor();
    const c10::IValue& last = event.arguments->back();
    const int64_t frame = last.isInt() ? last.toInt() : kFrameWithoutEnd;
    consumers_.follow_input(operation, input, stored.get(), frame, decide);
  } else {
    consumers_.follow(operation, view, stored.get(), decided.factor, decide);
  }
  return coded({encoded, run.sizes().vec(), run.strides().vec(), 0}, tensor, run);
}

void CompressionUser::keep_coded(const Followed& followed, const Consumers::Decision& decision) {
  const at::Tensor& view = followed.input;
  if (followed.run->is_settled()) return;
  const c10::StreamGuard guard(followed.stream);
  const Saved saved{view, view, followed.event, followed.decision, followed.site};
  RunPointer codes;
  const auto settled = c10::make_scope_exit([&] { followed.run->settle(codes); });
  // By no operation of libtorch's, but by a custom function's own code.
  if (followed.run->has_changed()) return;
  const at::Tensor run = ops::dense(view);
  if (followed.codes) {
    codes = followed.codes;
  } else if (followed.is_recomputed) {
    note_recomputed(saved, *followed.recomputed);
    codes = std::make_shared<Flat>(followed.recomputed->shown, run);
    session::when_changed(*codes, [run = std::weak_ptr(followed.run)] {
      if (const auto alive = run.lock()) alive->tell();
    });
  } else {
    Subject subject = subject_of(run, saved);
    const int64_t dimension = dimension_of(run, decision.channels);
    if (dimension >= 0) {
      subject.statistics = statistics_of_channels(run, dimension);
    } else if (followed.decision.may_normalize &&
               followed.decision.storage == StorageKind::rotated) {
      subject.statistics = statistics_of_squares(run, followed.decision.factor, decision.mean,
                                                 followed.other, compression_->options().group);
    }
    codes = encode(run, saved, subject).codes;
    if (codes && followed.recomputed) measure_recomputed(saved, run, *followed.recomputed);
  }
}

void CompressionUser::keep_exact(const Followed& followed, ExactReason why) {
  const at::Tensor& view = followed.input;
  const Saved saved{view, view, followed.event, followed.decision, followed.site};
  const auto bytes = static_cast<int64_t>(view.nbytes());
  const bool is_kept_anyway = uses_.is_exact(view);
  if (!followed.run->hold_again(view)) return;  // it was changed since it was coded
  const auto known = runs_.find(key_of(saved));
  const bool is_noted =
      known != runs_.end() && known->second.is_exact && known->second.site == followed.site;
  if (is_noted) return;  // by another operation that saves the same
  for (const SiteKey& site : uses_.keep_exact(view)) {
    if (site != followed.site) forward_.notes->shared(site);
  }
  runs_[key_of(saved)] = {followed.event.memory.owner, {}, {}, followed.site, 0, false, true};
  forward_.notes->stored(followed.site, {followed.event}, {},
                         {stored_exactly(is_kept_anyway ? ExactReason::shared : why), view.numel(),
                          bytes, is_kept_anyway ? 0 : followed.event.memory.bytes});
}

/// Where others save that as it is: probabilities to their logarithms, relu's signs to its output.
void CompressionUser::follow_result(const RecordedCall& call) {
  const OfResult of = *std::exchange(of_result_, std::nullopt);
  const auto run = of.run.lock();
  if (!run || call.results.size() != 1 || !call.results[0].isTensor()) return;
  const at::Tensor& result = call.results[0].toTensor();
  if (!result.has_storage() || result.sizes() != at::IntArrayRef(of.sizes)) return;
  if (!of.strides.empty() && result.strides() != at::IntArrayRef(of.strides)) return;
  if (!of.is_only_followed) uses_.add(result.tensor_data(), run, of.site, of.hold);
  if (of.follow) of.follow(result);
}

}  // namespace fewbit::session

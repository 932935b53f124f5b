// What element-wise operations keep waits until it is known who takes their results: behind a
// logarithm of a square no error of it is small, behind a mean of squares all are.
#include <functional>
#include <memory>
#include <utility>

#include <ATen/ops/div.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sum.h>
#include <c10/core/StreamGuard.h>
#include <c10/util/ScopeExit.h>

#include "ops/exact_gradient.hpp"
#include "ops/layout.hpp"
#include "session/activation_call.hpp"
#include "session/compression_user.hpp"
#include "session/streams.hpp"

namespace fewbit::session {

namespace {

/// What is derived, in the order that the saved tensor has in memory.
class Flat final : public codecs::Encoded {
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

 private:
  Shown shown_;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> strides_;
};

/// Of rows, where groups of codes cross them: by the mean square that norms by its root take, or
/// their own, of a tensor that a function takes which may begin with a norm.
std::optional<codecs::Statistics> statistics_of_rows(const at::Tensor& run, Factor factor,
                                                     at::Tensor mean_square, int64_t group) {
  constexpr int64_t kShort = 64;
  if (run.dim() < 2 || run.size(-1) < kShort || run.size(-1) % group == 0) return std::nullopt;
  if (factor == Factor::input) mean_square = at::mean(at::square(run.to(at::kFloat)), -1);
  if (!mean_square.defined()) return std::nullopt;
  std::vector<int64_t> beside = run.sizes().vec();
  beside.back() = 1;
  const bool is_of_rows = mean_square.sizes() == at::IntArrayRef(beside) ||
                          mean_square.sizes() == run.sizes().slice(0, run.dim() - 1);
  if (!is_of_rows) return std::nullopt;
  constexpr double kLeast = 1e-30;  // of rows of zeros: whatever errs there is divided by as little
  const at::Tensor scale = at::rsqrt(mean_square.clamp_min(kLeast));
  codecs::Statistics statistics = codecs::statistics_of({}, scale.reshape(beside));
  statistics.is_kept_anyway = false;
  return statistics;
}

class SummingToOne final : public Kept {
 public:
  SummingToOne(std::unique_ptr<const Kept> kept, int64_t dim) : kept_(std::move(kept)), dim_(dim) {}

  at::Tensor restored() const override {
    const at::Tensor p = kept_->restored();
    const at::TensorList held = kept_->tensors();
    const bool is_exact = held.size() == 1 && held[0].is_floating_point() &&
                          held[0].scalar_type() == p.scalar_type() && held[0].numel() == p.numel();
    if (is_exact) return p;
    constexpr double kLeast = 1e-30;  // of rows whose codes are all 0
    const at::Tensor sum = at::sum(p, dim_, /*keepdim=*/true, at::kFloat).clamp_min(kLeast);
    return at::div(p, sum).to(p.scalar_type());
  }
  at::TensorList tensors() const override { return kept_->tensors(); }
  bool is_settled() const override { return kept_->is_settled(); }
  void when_changed(const std::function<void()>& tell) const override { kept_->when_changed(tell); }

 private:
  std::unique_ptr<const Kept> kept_;
  int64_t dim_;
};

std::string_view why_exact(const Consumers::Decision& decision) {
  return decision.is_taken ? Compression::kDivided : Compression::kResult;
}

}  // namespace

bool CompressionUser::is_followed(const Saved& saved) const {
  const Treatment& treatment = saved.treatment;
  if (treatment.factor == Factor::none || !treatment.takes_bits()) return false;
  if (treatment.factor == Factor::input && saved.saving.argument < 0) return false;
  if (compression_->survey()) return false;
  // Of what is coded while its operation runs (session/sensitivities.hpp).
  const bool is_watched =
      compression_->follows_gradients() && Sensitivities::follows(saved.saving.facts.operation);
  return !is_watched;
}

/// The same elements may wait already, or others may have coded them.
std::unique_ptr<const Kept> CompressionUser::code_later(
    const Saved& saved, Run& known, const std::optional<Derivations::Derived>& to_derive) {
  const auto& [tensor, view, saving, treatment, site] = saved;
  const at::Tensor run = ops::dense(view);
  const uint64_t sample = sample_of(run);
  RunPointer encoded = known.encoded.lock();
  std::shared_ptr<StoredRun> stored = known.stored.lock();
  const bool is_known = encoded && stored && known.sample == sample;
  if (is_known) compression_->raise(known.site, saving, treatment);
  latest_ = is_known ? known.site : site;
  Followed followed{stored, view, saving, treatment, *latest_, current_stream(view)};
  followed.saving.arguments = nullptr;  // which end with the operation
  followed.derived = to_derive;
  followed.is_derived = to_derive.has_value();
  if (!is_known) {
    if (!to_derive && compression_->is_due(site)) {
      followed.derived = derivations_.find(view, saving);
    }
    stored = std::make_shared<StoredRun>(view);
    encoded = remember(saved, run, sample, stored, known, false);
  } else if (stored->is_settled()) {
    followed.codes = std::exchange(stored, std::make_shared<StoredRun>(view));
    uses_.add(view, stored, site);
    encoded = stored;
  }
  followed.run = stored;
  const auto decide = [this, followed](const Consumers::Decision& decision) {
    if (decision.is_exact) return keep_exact(followed, why_exact(decision));
    keep_coded(followed, decision.mean);
  };
  const std::string& operation = saving.facts.operation;
  if (treatment.factor == Factor::input) {
    const at::Tensor input = saving.arguments->at(static_cast<size_t>(saving.argument)).toTensor();
    const int64_t frame = saving.arguments->back().toInt();
    consumers_.follow_input(operation, input, stored.get(), frame, decide);
  } else {
    consumers_.follow(operation, view, stored.get(), treatment.factor, decide);
  }
  return coded({encoded, run.sizes().vec(), run.strides().vec(), 0}, tensor, run, stored);
}

void CompressionUser::keep_coded(const Followed& followed, const at::Tensor& mean_square) {
  const at::Tensor& view = followed.input;
  if (followed.run->is_settled()) return;
  const c10::StreamGuard guard(followed.stream);
  const Saved saved{view, view, followed.saving, followed.treatment, followed.site};
  RunPointer codes;
  const auto settled = c10::make_scope_exit([&] { followed.run->settle(codes); });
  // By no operation of libtorch's, but by a custom function's own code.
  if (followed.run->has_changed()) return;
  const at::Tensor run = ops::dense(view);
  if (followed.codes) {
    codes = followed.codes;
  } else if (followed.is_derived) {
    note_derived(saved, *followed.derived);
    codes = std::make_shared<Flat>(followed.derived->shown, run);
  } else {
    Subject subject = subject_of(run, saved);
    subject.statistics = statistics_of_rows(run, followed.treatment.factor, mean_square,
                                            compression_->options().group);
    codes = encode(run, saved, subject).codes;
    if (codes && followed.derived) measure_derived(saved, run, *followed.derived);
  }
}

void CompressionUser::keep_exact(const Followed& followed, std::string_view why) {
  const at::Tensor& view = followed.input;
  const Saved saved{view, view, followed.saving, followed.treatment, followed.site};
  const auto bytes = static_cast<int64_t>(view.nbytes());
  if (!followed.run->hold_again(view)) return;  // it was changed since it was coded
  for (const Compression::SiteKey& site : uses_.keep_exact(view)) {
    if (site != followed.site) compression_->note_kept_anyway(site);
  }
  runs_[key_of(saved)] = {followed.saving.memory.owner, {}, {}, followed.site, 0, false, true};
  compression_->note(followed.site, {followed.saving}, {},
                     {std::string(why), view.numel(), bytes, bytes});
}

std::unique_ptr<const Kept> CompressionUser::summing_to_one(std::unique_ptr<const Kept> kept,
                                                            int64_t dim) {
  return std::make_unique<SummingToOne>(std::move(kept), dim);
}

/// Codes give way to the input where others keep that as it is, and where a logarithm follows.
std::unique_ptr<const Kept> CompressionUser::watch_codes(const Saved& saved,
                                                         std::unique_ptr<const Kept> kept) {
  const Saving& saving = saved.saving;
  if (saving.arguments == nullptr || compression_->survey()) return kept;
  const std::string& function = saving.arguments->at(1).toStringRef();
  if (!ops::has_exact_gradient(function, saving.arguments->at(2).toDoubleVector())) return kept;
  if (!kept) kept = kept_unchanged(saved.tensor);
  const auto state = std::make_shared<CodesOrInput>(std::move(kept));
  const at::Tensor x = saving.arguments->at(0).toTensor().detach();
  uses_.add(x, state, saved.site);
  if (uses_.exceeds_exact(x)) {
    for (const auto& site : uses_.keep_exact(x)) compression_->note_kept_anyway(site);
    compression_->note_kept(saved.site, "exact", memory_of(x).bytes);
  } else {
    watch(saved, x, state);
  }
  return kept_in(state);
}

void CompressionUser::watch(const Saved& saved, const at::Tensor& x,
                            const std::shared_ptr<CodesOrInput>& state) {
  const auto decide = [this, x, version = x._version(), site = saved.site,
                       weak = std::weak_ptr(state)](const Consumers::Decision& decision) {
    const auto alive = weak.lock();
    if (!decision.is_exact || !alive || alive->holds_input() || x._version() != version) return;
    for (const auto& other : uses_.keep_exact(x)) compression_->note_kept_anyway(other);
    alive->hold(x);
    uses_.add_holder(memory_of(x).address(), version, alive);
    compression_->note_kept(site, std::string(why_exact(decision)),
                            static_cast<int64_t>(x.nbytes()));
  };
  const bool falls_to_zero = is_vanishing(saved.saving.arguments->at(1).toStringRef());
  consumers_.follow(saved.saving.facts.operation, x, state.get(),
                    falls_to_zero ? Factor::vanishing : Factor::derivative, decide);
}

}  // namespace fewbit::session

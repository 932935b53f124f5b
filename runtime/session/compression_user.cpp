#include "session/compression_user.hpp"

#include <limits>

#include <ATen/ops/empty_strided.h>
#include <ATen/ops/randint.h>

#include "codecs/swapped.hpp"
#include "ops/layout.hpp"
#include "session/survey.hpp"

namespace fewbit::session {

namespace {

/// The elements that the tensor has in memory, each once: dimensions that are expanded with size 1.
at::Tensor unexpanded(const at::Tensor& tensor) {
  at::Tensor run = tensor.detach();
  for (int64_t i = 0; i < run.dim(); ++i) {
    if (run.stride(i) == 0 && run.size(i) > 1) run = run.narrow(i, 0, 1);
  }
  return run;
}

int64_t bytes_of(at::TensorList tensors) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

/// A part of a run, in the saved tensor's layout.
class Coded final : public Kept {
 public:
  /// view: what the tensor shows, with dimensions of size 1 where it is expanded.
  Coded(Shown shown, const at::Tensor& tensor, const at::Tensor& view,
        std::shared_ptr<LateRun> late = nullptr)
      : shown_(std::move(shown)), late_(std::move(late)) {
    shown_.sizes = tensor.sizes().vec();
    for (int64_t i = 0; i < tensor.dim(); ++i) {
      if (tensor.size(i) != view.size(i)) shown_.strides[static_cast<size_t>(i)] = 0;
    }
  }

  at::Tensor restored() const override { return shown_.tensor(); }

  at::TensorList tensors() const override { return shown_.run->tensors(); }
  bool is_settled() const override { return !late_ || late_->is_settled(); }
  void when_settled(std::function<void()> tell) const override {
    late_->when_settled(std::move(tell));
  }

 private:
  Shown shown_;
  std::shared_ptr<LateRun> late_;  ///< that waits; null: none does
};

}  // namespace

CompressionUser::RunKey CompressionUser::key_of(const Saved& saved) {
  const at::Tensor& view = saved.view;
  // Probabilities serve as well where anything linear would do.
  const Way way = saved.treatment.takes_bits() ? Way::rotated : saved.treatment.way;
  RunKey key{saved.saving.memory.address(),
             saved.tensor._version(),
             view.storage_offset(),
             view.scalar_type(),
             view.numel(),
             way,
             {},
             {}};
  if (!view.is_non_overlapping_and_dense()) {
    key.sizes = view.sizes().vec();
    key.strides = view.strides().vec();
  }
  return key;
}

Compression::SiteKey CompressionUser::next_site(const Saving& saving) {
  const std::pair place(saving.facts.operation, saving.argument);
  return {place.first, place.second, calls_[place]++};
}

codecs::RandomStream CompressionUser::next_random(at::Device device) {
  at::Tensor& seed = seeds_[device.str()];
  if (!seed.defined()) {
    seed = at::randint(std::numeric_limits<int64_t>::max(), {1},
                       at::TensorOptions().dtype(at::kLong).device(device));
  }
  return {seed, coded_++};
}

/// Classes are of what lies where the operation left it.
Subject CompressionUser::subject_of(const at::Tensor& run, const Saved& saved) const {
  const bool is_view = run.data_ptr() == saved.view.data_ptr();
  return {saved.saving, is_view ? derivations_.classes_of(saved.view) : std::nullopt};
}

CompressionUser::EncodedRun CompressionUser::encode(const at::Tensor& run, const Saved& saved,
                                                    const Subject& subject) {
  const auto& [tensor, view, saving, treatment, site] = saved;
  const codecs::CodecPointer codec = compression_->codec_at(site, subject, treatment);
  if (!codec->takes(run)) return {};
  const bool is_due = compression_->is_due(site);
  codecs::RandomStream random;
  if (treatment.takes_bits()) random = next_random(run.device());
  RunPointer encoded = codec->encode(run, random);
  if (!encoded) return {};
  const bool leaves = swap_ && compression_->swaps(treatment);
  const int64_t away = leaves ? codecs::bytes_to_swap(*encoded) : 0;
  compression_->note(site, subject, treatment,
                     {codec->name(), run.numel(), static_cast<int64_t>(run.nbytes()),
                      bytes_of(encoded->tensors()) - away, away});
  if (is_due) {
    compression_->measure(site, subject, treatment, run, {{codec->name(), *encoded}}, random);
    if (compression_->follows_gradients()) sensitivities_.add(site, run, saving, treatment);
  }
  return {away > 0 ? codecs::swapped(std::move(encoded), *swap_) : encoded, codec->keeps_signs()};
}

void CompressionUser::measure_derived(const Saved& saved, const at::Tensor& run,
                                      const Derivations::Derived& derived) {
  const at::Tensor again = at::empty_strided(run.sizes(), run.strides(), run.options());
  again.copy_(derived.shown.tensor());
  compression_->measure_derived(saved.site, saved.treatment, run,
                                again.as_strided({run.numel()}, {1}), derived.root);
}

std::unique_ptr<const Kept> CompressionUser::derive(const Saved& saved,
                                                    const Derivations::Derived& derived,
                                                    Run& known) {
  const auto& [tensor, view, saving, treatment, site] = saved;
  const bool is_due = compression_->is_due(site);
  compression_->note(site, {saving}, treatment,
                     {"", view.numel(), static_cast<int64_t>(view.nbytes()), 0, 0, derived.way,
                      derived.is_asked_for});
  if (is_due && treatment.takes_bits()) {
    const at::Tensor run = ops::dense(view);
    const codecs::RandomStream random = next_random(run.device());
    compression_->measure(site, subject_of(run, saved), treatment, run, {}, random);
    measure_derived(saved, run, derived);
  }
  known = {saving.memory.owner, derived.shown.run, site, 0, true};
  return std::make_unique<Coded>(derived.shown, tensor, view);
}

std::unique_ptr<const Kept> CompressionUser::code(const Saved& saved, Run& known) {
  const auto& [tensor, view, saving, treatment, site] = saved;
  const at::Tensor run = ops::dense(view);
  const uint64_t sample = sample_of(run);
  RunPointer encoded = known.encoded.lock();
  std::shared_ptr<LateRun> late;
  if (encoded && !known.is_derived && known.sample == sample) {
    latest_ = known.site;
    compression_->raise(known.site, saving, treatment);
  } else {
    const bool is_due = compression_->is_due(site);
    const auto derived =
        is_due && treatment.takes_bits() ? derivations_.find(view, saving) : std::nullopt;
    EncodedRun now;
    if (waits(run, saved)) {
      now.codes = wait(saved, derived);
      late = waiting_->run;
    } else {
      now = encode(run, saved, subject_of(run, saved));
      if (now.codes && derived) measure_derived(saved, run, *derived);
    }
    if (!now.codes) return nullptr;
    encoded = compression_->held(now.codes);
    known = {saving.memory.owner, encoded, site, sample, false};
    if (treatment.takes_bits() && run.is_same_size(view) && run.data_ptr() == view.data_ptr()) {
      derivations_.add(view, encoded, site, now.keeps_signs);
    }
  }
  const Shown shown{encoded, run.sizes().vec(), run.strides().vec(), 0};
  if (treatment.way == Way::mask) derivations_.keep_mask(shown, saving);
  if (treatment.way == Way::codes) derivations_.keep_codes(shown, saving);
  if (treatment.way == Way::integers) derivations_.keep_places(shown);
  return std::make_unique<Coded>(shown, tensor, run, late);
}

/// Those of an activation.
std::unique_ptr<const Kept> CompressionUser::keep_codes(const Saved& saved, Run& known) {
  const auto derived = derivations_.find(saved.view, saved.saving);
  if (derived && derived->is_asked_for) {
    derivations_.keep_codes(derived->shown, saved.saving);
    return derive(saved, *derived, known);
  }
  if (swap_ && compression_->swaps(saved.treatment)) return code(saved, known);
  latest_.reset();
  return nullptr;
}

void CompressionUser::leave(const Saved& saved, Run& known) {
  const auto& [tensor, view, saving, treatment, site] = saved;
  const auto bytes = static_cast<int64_t>(view.nbytes());
  compression_->note(site, {saving}, {}, {"exact", view.numel(), bytes, bytes, 0});
  known = {saving.memory.owner, {}, site, 0, false, true};
}

std::unique_ptr<const Kept> CompressionUser::kept(const at::Tensor& tensor, const Saving& saving) {
  derivations_.keep(tensor, saving);
  const Treatment treatment = compression_->treatment(tensor, saving);
  if (treatment.way == Way::exact) return nullptr;
  if (treatment.way != Way::codes) settle({});
  const Compression::SiteKey site = next_site(saving);  // of a small tensor too: batches differ
  const at::Tensor view = unexpanded(tensor);
  if (Compression::is_too_small(view)) {
    settle(classes_of_waiting(saving));
    return nullptr;
  }
  Saved saved{tensor, view, saving, treatment, site};
  Run& known = runs_[key_of(saved)];
  latest_ = known.is_exact ? known.site : site;
  if (known.is_exact) {
    settle({});
    return nullptr;
  }
  if (treatment.way == Way::codes) {
    auto kept = keep_codes(saved, known);
    settle(classes_of_waiting(saving));
    return kept;
  }
  const RunPointer held = known.encoded.lock();
  const auto assigned = compression_->assignment(site);
  if (assigned && !held) {
    if (assigned->keep == Keep::exact) {
      leave(saved, known);
      return nullptr;
    }
    if (assigned->keep == Keep::swapped && treatment.takes_bits()) saved.treatment.way = Way::away;
  }
  if (saved.treatment.takes_bits() && (!held || known.is_derived) &&
      (assigned || !compression_->has_rule(saving))) {
    if (const auto derived = derivations_.find(view, saving)) {
      if (held) {
        latest_ = known.site;
        compression_->raise(known.site, saving, treatment);
        return std::make_unique<Coded>(derived->shown, tensor, view);
      }
      if (compression_->derives(site, derived->is_asked_for)) {
        return derive(saved, *derived, known);
      }
    }
  }
  return code(saved, known);
}

std::unique_ptr<const Kept> CompressionUser::replace(const at::Tensor& tensor,
                                                     const Saving& saving) {
  const std::shared_ptr<Survey> survey = compression_->survey();
  if (!survey) return kept(tensor, saving);
  const c10::Device device = tensor.device();
  const double begin = Survey::now(device);
  latest_.reset();
  std::unique_ptr<const Kept> kept = this->kept(tensor, saving);
  if (!latest_) {
    const bool is_own = !saving.facts.parameter && saving.facts.maker != SavedTensor::kNoGradient;
    if (!kept && is_own && !is_of_parameter(tensor)) survey->leave(saving.memory);
    return kept;
  }
  return Survey::kept(survey, *latest_, saving, device, begin, std::move(kept));
}

}  // namespace fewbit::session

#include "compression/recorder.hpp"

#include <ATen/ops/empty_strided.h>
#include <ATen/ops/full.h>

#include "codecs/swapped.hpp"
#include "compression/allocation/activation_bits.hpp"
#include "compression/probabilities.hpp"
#include "compression/save_observer.hpp"
#include "ops/layout.hpp"
#include "text/names.hpp"
#include "trace/backward_pass.hpp"
#include "trace/contents.hpp"
#include "trace/model_parameters.hpp"

namespace fewbit::session {

namespace {

int64_t bytes_of(at::TensorList tensors) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

/// Less is not worth a line in a report.
constexpr int64_t kManyBytes = 4096;

/// Lives as long as a tensor is kept as it is.
class KeptExactly final : public Keeping {
 public:
  std::weak_ptr<const void> holder() const { return holder_; }

 private:
  std::shared_ptr<const void> holder_ = std::make_shared<int>();
};

/// A part of a run, in the saved tensor's layout.
class Coded final : public Kept {
 public:
  /// view: what the tensor shows, with dimensions of size 1 where it is expanded.
  /// stored: what the elements are in, where that may change.
  Coded(Shown shown, const at::Tensor& tensor, const at::Tensor& view,
        std::shared_ptr<StoredRun> stored = nullptr)
      : shown_(std::move(shown)), stored_(std::move(stored)) {
    shown_.sizes = tensor.sizes().vec();
    for (int64_t i = 0; i < tensor.dim(); ++i) {
      if (tensor.size(i) != view.size(i)) shown_.strides[static_cast<size_t>(i)] = 0;
    }
  }

  at::Tensor restored() const override { return shown_.tensor(); }

  at::TensorList tensors() const override { return shown_.run->tensors(); }
  bool is_settled() const override { return !stored_ || stored_->is_settled(); }
  void when_changed(const std::function<void()>& tell) const override {
    if (stored_) stored_->when_changed(tell);
  }

 private:
  Shown shown_;
  std::shared_ptr<StoredRun> stored_;
};

}  // namespace

CompressionUser::RunKey CompressionUser::key_of(const Saved& saved) {
  const at::Tensor& view = saved.view;
  // Probabilities serve as well where anything linear would do.
  const Way way = saved.decision.takes_bits() ? Way::rotated : saved.decision.way;
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

/// Where it saves next.
Compression::SiteKey CompressionUser::site_of(const Saving& saving) const {
  const auto known = calls_.find({saving.facts.operation, saving.argument});
  return {saving.facts.operation, saving.argument, known == calls_.end() ? 0 : known->second};
}

codecs::RandomStream CompressionUser::next_random(at::Device device) {
  at::Tensor& seed = seeds_[device.str()];
  if (!seed.defined()) {
    seed = at::full({1}, seed_, at::TensorOptions().dtype(at::kLong).device(device));
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
  const auto& [tensor, view, saving, decision, site] = saved;
  const codecs::CodecPointer codec = compression_->codec_at(site, subject, decision);
  if (!codec->takes(run)) return {};
  const bool leaves = swap_ && compression_->swaps(decision) && swap_->takes(run.device());
  const bool is_copy = decision.way == Way::away || decision.way == Way::codes;
  if (is_copy && !leaves) return {};
  codecs::RandomStream random;
  if (decision.takes_bits()) random = next_random(run.device());
  RunPointer encoded = codec->encode(run, random);
  if (!encoded) return {};
  const bool is_table = decision.way == Way::codes;
  int64_t away = leaves ? codecs::bytes_to_swap(*encoded) : 0;
  compression_->note(
      site, subject, decision,
      {is_table ? std::string(Compression::kTable) : codec->name(), run.numel(),
       static_cast<int64_t>(run.nbytes()), bytes_of(encoded->tensors()) - away, away});
  if (decision.is_due) {
    compression_->measure(site, subject, decision, run, {{codec->name(), *encoded}}, random);
    if (compression_->follows_gradients()) sensitivities_.add(site, run, saving, decision);
    // What was found to be better is so from the first tensor on.
    const codecs::CodecPointer better = compression_->codec_at(site, subject, decision);
    if (better->name() != codec->name()) {
      encoded = better->encode(run, random);
      away = leaves ? codecs::bytes_to_swap(*encoded) : 0;
      compression_->note_kept(site, better->name(), bytes_of(encoded->tensors()) - away, away);
    }
  }
  return {away > 0 ? codecs::swapped(std::move(encoded), *swap_) : encoded, codec->keeps_signs()};
}

void CompressionUser::measure_derived(const Saved& saved, const at::Tensor& run,
                                      const Derivations::Derived& derived) {
  const at::Tensor again = at::empty_strided(run.sizes(), run.strides(), run.options());
  again.copy_(derived.shown.tensor());
  compression_->measure_derived(saved.site, saved.decision, run,
                                again.as_strided({run.numel()}, {1}), derived.root);
}

/// Copies that others hold already are theirs.
int64_t CompressionUser::bytes_of_new(const std::vector<at::Tensor>& copies) {
  int64_t bytes = 0;
  for (const at::Tensor& copy : copies) {
    Memory memory = memory_of(copy);
    const void* address = memory.address();
    const bool is_new = counted_.try_emplace(address, std::move(memory)).second;
    if (is_new) bytes += static_cast<int64_t>(copy.nbytes());
  }
  return bytes;
}

void CompressionUser::note_derived(const Saved& saved, const Derivations::Derived& derived) {
  const auto& [tensor, view, saving, decision, site] = saved;
  compression_->note(site, {saving}, decision,
                     {"", view.numel(), static_cast<int64_t>(view.nbytes()),
                      bytes_of_new(derived.copies), 0, derived.way, derived.is_asked_for});
  if (decision.is_due && decision.takes_bits()) {
    const at::Tensor run = ops::dense(view);
    const codecs::RandomStream random = next_random(run.device());
    compression_->measure(site, subject_of(run, saved), decision, run, {}, random);
    measure_derived(saved, run, derived);
  }
  uses_.need_codes(derived.root);
}

std::unique_ptr<const Kept> CompressionUser::derive(const Saved& saved,
                                                    const Derivations::Derived& derived,
                                                    Run& known) {
  note_derived(saved, derived);
  known = {saved.saving.memory.owner, derived.shown.run, {}, saved.site, 0, true};
  return std::make_unique<Coded>(derived.shown, saved.tensor, saved.view);
}

std::unique_ptr<const Kept> CompressionUser::code(const Saved& saved, Run& known) {
  const auto& [tensor, view, saving, decision, site] = saved;
  const at::Tensor run = ops::dense(view);
  const uint64_t sample = sample_of(run);
  RunPointer encoded = known.encoded.lock();
  std::shared_ptr<StoredRun> stored = known.stored.lock();
  if (encoded && !known.is_derived && known.sample == sample) {
    latest_ = known.site;
    compression_->raise(known.site, decision);
  } else {
    const auto derived =
        decision.is_due && decision.takes_bits() ? derivations_.find(view, saving) : std::nullopt;
    bool keeps_signs = false;
    if (waits(run, saved)) {
      stored = wait(saved, derived);
    } else {
      EncodedRun now = encode(run, saved, subject_of(run, saved));
      if (!now.codes) {
        if (decision.way == Way::away) leave(saved, known);
        return nullptr;
      }
      keeps_signs = now.keeps_signs;
      if (derived) measure_derived(saved, run, *derived);
      stored = std::make_shared<StoredRun>(std::move(now.codes));
    }
    encoded = remember(saved, run, sample, stored, known, keeps_signs);
    keep_exact_if_less(saved);
  }
  const Shown shown{encoded, run.sizes().vec(), run.strides().vec(), 0};
  if (decision.way == Way::mask) derivations_.keep_mask(shown, saving);
  if (decision.way == Way::codes) derivations_.keep_codes(shown, saving);
  if (decision.way == Way::integers) derivations_.keep_places(shown);
  return std::make_unique<Coded>(shown, tensor, run, stored);
}

RunPointer CompressionUser::remember(const Saved& saved, const at::Tensor& run, uint64_t sample,
                                     const std::shared_ptr<StoredRun>& stored, Run& known,
                                     bool keeps_signs) {
  const auto& [tensor, view, saving, decision, site] = saved;
  uses_.add(view, stored, site);
  if (saving.facts.operation == kLogSoftmax) {
    const auto hold = [weak = std::weak_ptr(stored)](const at::Tensor& logarithms) {
      if (const auto alive = weak.lock()) alive->settle_exactly(exponential_of(logarithms));
    };
    of_result_ = {std::string(kLogSoftmax), stored, site, run.sizes().vec(),
                  run.strides().vec(),      hold};
  }
  const RunPointer encoded = compression_->held(stored);
  known = {saving.memory.owner, encoded, stored, site, sample, false};
  if (decision.takes_bits() && run.is_same_size(view) && run.data_ptr() == view.data_ptr()) {
    derivations_.add(view, encoded, site, keeps_signs);
  }
  return encoded;
}

void CompressionUser::keep_exact_if_less(const Saved& saved) {
  const auto& [tensor, view, saving, decision, site] = saved;
  if (!uses_.exceeds_exact(view)) return;
  keep_exact(tensor, saving);
  compression_->note(site, {saving}, {},
                     {.codec = "exact",
                      .elements = view.numel(),
                      .bytes_before = static_cast<int64_t>(view.nbytes()),
                      .bytes_after = saving.memory.bytes});
}

std::unique_ptr<const Kept> CompressionUser::coded(const Shown& shown, const at::Tensor& tensor,
                                                   const at::Tensor& view,
                                                   std::shared_ptr<StoredRun> stored) {
  return std::make_unique<Coded>(shown, tensor, view, std::move(stored));
}

/// Those of an activation.
std::unique_ptr<const Kept> CompressionUser::keep_codes(const Saved& saved, Run& known) {
  const auto derived = derivations_.find(saved.view, saved.saving);
  if (derived && derived->is_asked_for) {
    derivations_.keep_codes(derived->shown, saved.saving);
    return derive(saved, *derived, known);
  }
  if (swap_ && compression_->swaps(saved.decision)) {
    if (auto kept = code(saved, known)) return kept;
  }
  note_activation(saved);
  return nullptr;
}

void CompressionUser::expect_activation(const Table& table, bool is_given, const at::Tensor& x) {
  activation_.emplace(Activation{table, is_given, x.numel(), static_cast<int64_t>(x.nbytes()),
                                 parameters_of_maker(x)});
}

void CompressionUser::keep_next_activation(Way way) {
  activation_way_ = way;
}

void CompressionUser::note_activation(const Saved& saved) {
  const auto activation = std::exchange(activation_, std::nullopt);
  if (!activation) {  // by a function of ours
    latest_.reset();
    return;
  }
  Saving saving = saved.saving;
  saving.parameters = activation->makers;
  compression_->note(saved.site, {saving}, saved.decision,
                     {.codec = std::string(Compression::kTable),
                      .elements = activation->elements,
                      .bytes_before = activation->bytes,
                      .bytes_after = static_cast<int64_t>(saved.view.nbytes())});
  compression_->note_table(saved.site, activation->table, activation->is_given);
}

Compression::SiteKey CompressionUser::next_activation() {
  const std::pair place(std::string(kActivation), -1);
  return {place.first, place.second, calls_[place]};
}

void CompressionUser::keep_next_activation_exact() {
  exact_activation_ = next_activation();
  ++calls_[std::pair(std::string(kActivation), -1)];
}

/// An activation has its number also where a checkpoint keeps its codes.
void CompressionUser::pass_over() {
  if (activation_) ++calls_[std::pair(std::string(kActivation), -1)];
  expect_nothing();
}

void CompressionUser::expect_nothing() {
  activation_.reset();
  activation_way_.reset();
  exact_activation_.reset();
}

void CompressionUser::leave(const Saved& saved, Run& known) {
  const auto& [tensor, view, saving, decision, site] = saved;
  const auto bytes = static_cast<int64_t>(view.nbytes());
  compression_->note(site, {saving}, {}, {"exact", view.numel(), bytes, bytes, 0});
  known = {saving.memory.owner, {}, {}, site, 0, false, true};
}

void CompressionUser::note_kept_anyway(const Saved& saved) {
  const auto& [tensor, view, saving, decision, site] = saved;
  compression_->note(site, {saving}, {},
                     {.codec = std::string(Compression::kKeptAnyway),
                      .elements = view.numel(),
                      .bytes_before = static_cast<int64_t>(view.nbytes())});
}

void CompressionUser::keep_exact(const at::Tensor& tensor, const Saving& saving) {
  if (saving.facts.parameter || !tensor.has_storage() || is_of_parameter(tensor)) return;
  if (!latest_ && !uses_.is_exact(tensor) && saving.memory.bytes >= kManyBytes) {
    compression_->note_left(saving.facts.operation, reason_left(tensor, saving),
                            saving.memory.bytes);
  }
  for (const Compression::SiteKey& site : uses_.keep_exact(tensor)) {
    compression_->note_kept_anyway(site);
  }
}

/// A view would hold all of its memory: a copy, as long as all copies and codes take less.
std::unique_ptr<const Kept> CompressionUser::keep_small(const Saved& saved) {
  constexpr int64_t kManyTimes = 4;
  const auto& [tensor, view, saving, decision, site] = saved;
  const auto bytes = static_cast<int64_t>(view.nbytes());
  if (saving.memory.bytes <= kManyTimes * bytes) return nullptr;
  if (!view.has_storage() || uses_.is_exact(view)) return nullptr;
  const at::Tensor run = ops::dense(view);
  Run& known = runs_[key_of(saved)];
  std::shared_ptr<StoredRun> stored = known.stored.lock();
  if (!stored) {
    stored = std::make_shared<StoredRun>(codecs::identity()->encode(run, {}));
    uses_.add(view, stored, site);
    known = {saving.memory.owner, stored, stored, site};
    compression_->note(site, {saving}, {}, {"copy", view.numel(), bytes, bytes});
    if (uses_.exceeds_exact(view)) keep_exact(tensor, saving);
  }
  const Shown shown{stored, run.sizes().vec(), run.strides().vec(), 0};
  return std::make_unique<Coded>(shown, tensor, run, stored);
}

std::unique_ptr<const Kept> CompressionUser::kept(const at::Tensor& tensor, const Saving& saving) {
  if (is_mask_of_attention(saving)) {
    const at::Tensor mask = masks_.shared(saving.arguments->at(3).toTensor(), tensor);
    return mask.is_same(tensor) ? nullptr : kept_unchanged(mask);
  }
  derivations_.keep(tensor, saving);
  const Compression::SiteKey site = site_of(saving);
  SaveDecision decision = compression_->decide(site, tensor, saving);
  const auto activation_way = std::exchange(activation_way_, std::nullopt);
  if (activation_way && may_take_bits(tensor, saving)) {
    static_cast<Treatment&>(decision) = {*activation_way, 1.0};
  }
  if (decision.way == Way::exact) {
    if (const auto own = std::exchange(exact_activation_, std::nullopt)) {
      const at::Tensor view = ops::unexpanded(tensor);
      const Saved saved{tensor, view, saving, decision, *own};
      latest_ = *own;
      if (uses_.is_exact(tensor)) {
        note_kept_anyway(saved);
      } else {
        leave(saved, runs_[key_of(saved)]);
      }
    }
    return nullptr;
  }
  if (decision.way != Way::codes) settle({});
  ++calls_[{saving.facts.operation, saving.argument}];  // of a small tensor too: batches differ
  const at::Tensor view = ops::unexpanded(tensor);
  Saved saved{tensor, view, saving, decision, site};
  if (is_too_small(view)) {
    if (decision.way == Way::codes) note_activation(saved);
    settle(classes_of_waiting(saving));
    return keep_small(saved);
  }
  Run& known = runs_[key_of(saved)];
  latest_ = known.is_exact ? known.site : site;
  if (known.is_exact) {
    settle({});
    return nullptr;
  }
  if (decision.way == Way::codes) {
    auto kept = keep_codes(saved, known);
    settle(classes_of_waiting(saving));
    return watch_codes(saved, std::move(kept));
  }
  const RunPointer held = known.encoded.lock();
  if (decision.planned && !held) {
    if (*decision.planned == Keep::exact) {
      leave(saved, known);
      return nullptr;
    }
    if (*decision.planned == Keep::swapped && decision.takes_bits()) saved.decision.way = Way::away;
  }
  if (saved.decision.keeps_elements() && uses_.is_exact(tensor)) {
    note_kept_anyway(saved);
    return nullptr;
  }
  const bool is_followed = this->is_followed(saved);
  if (saved.decision.takes_bits() && (!held || known.is_derived) &&
      (decision.planned || !decision.has_rule)) {
    const auto derived = derivations_.find(view, saving);
    if (derived && !uses_.is_held(derived->root)) {
      if (is_followed && (held || decision.derives(derived->is_asked_for))) {
        return code_later(saved, known, derived);
      }
      if (held) {
        latest_ = known.site;
        compression_->raise(known.site, decision);
        return std::make_unique<Coded>(derived->shown, tensor, view);
      }
      if (decision.derives(derived->is_asked_for)) {
        return derive(saved, *derived, known);
      }
    }
  }
  return is_followed ? code_later(saved, known, {}) : code(saved, known);
}

std::unique_ptr<const Kept> CompressionUser::replace(const at::Tensor& tensor,
                                                     const Saving& saving) {
  const std::shared_ptr<SaveObserver> observer = compression_->observer();
  const c10::Device device = tensor.device();
  const double begin = observer ? observer->now(device) : 0.0;
  latest_.reset();
  left_.reset();
  std::unique_ptr<const Kept> kept = this->kept(tensor, saving);
  const bool is_softmax = saving.facts.operation == "aten::_softmax" && saving.argument < 0;
  if (kept && is_softmax && saving.arguments != nullptr && tensor.is_floating_point()) {
    kept = summing_to_one(std::move(kept), saving.arguments->at(1).toInt());
  }
  const bool is_codes = saving.facts.operation == kActivation;
  if (!kept && !is_codes && !is_in_backward()) {
    keep_exact(tensor, saving);
    left_ = {saving.memory.address(), tensor._version()};
  }
  if (!observer) return kept;
  if (!latest_) {
    const bool is_own = !saving.facts.parameter && saving.facts.maker != SavedTensor::kNoGradient;
    if (!kept && is_own && !is_of_parameter(tensor)) observer->leave(saving.memory);
    return kept;
  }
  return observer->kept(*latest_, saving, device, begin, std::move(kept));
}

/// Others may have replaced what was left to them.
std::unique_ptr<Keeping> CompressionUser::keep(const Saving& saving) {
  const std::optional<Left> left = std::exchange(left_, std::nullopt);
  if (!left || left->memory != saving.memory.address()) return nullptr;
  auto keeping = std::make_unique<KeptExactly>();
  uses_.add_holder(left->memory, left->version, keeping->holder());
  return keeping;
}

}  // namespace fewbit::session

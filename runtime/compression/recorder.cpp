#include "compression/recorder.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>

#include "codecs/offloaded.hpp"
#include "compression/measurement.hpp"
#include "compression/probabilities.hpp"
#include "compression/save_observer.hpp"
#include "ops/graph_capture.hpp"
#include "ops/layout.hpp"
#include "text/names.hpp"
#include "trace/contents.hpp"
#include "trace/model_parameters.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

namespace {

int64_t bytes_of(at::TensorList tensors) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

/// Where none are chosen yet those that would be by themselves are measured.
DirectionsChoice choice_for(const SaveDecision& decision, int64_t elements) {
  if (!decision.directions || decision.directions_choice.count > 0 || !decision.is_due) {
    return decision.directions_choice;
  }
  return best_of(options_of(*decision.directions, elements));
}

/// Less is not worth a line in a report.
constexpr int64_t kManyBytes = 4096;

}  // namespace

CompressionUser::CompressionUser(std::shared_ptr<Compression> compression)
    : compression_(std::move(compression)),
      forward_(compression_->begin_forward()),
      tracker_({[rules = forward_.rules](std::string_view kind) {
                  return rules->when_to_recompute(kind);
                },
                [rules = forward_.rules](const at::Tensor& tensor) {
                  return is_of_model(tensor) || rules->knows(tensor);
                },
                [this](const at::Tensor& weight) { return casts_.weight_of(weight); },
                [this](RunPointer run) { return compression_->held(std::move(run)); }}),
      recomputes_casts_(forward_.rules->when_to_recompute(kCast) != Recompute::never),
      sensitivities_([weak = std::weak_ptr(compression_)](const SiteKey& site, double sensitivity) {
        if (const auto alive = weak.lock()) alive->note_sensitivity(site, sensitivity);
      }),
      compiled_seeds_(std::in_place, forward_.seed) {}

codecs::CodecPointer CompressionUser::measure(const SiteKey& site, const Subject& subject,
                                              const SaveDecision& decision, const at::Tensor& run,
                                              const std::optional<CodedRun>& coded,
                                              const codecs::RandomStream& random) {
  const auto measured =
      session::measure(compression_->coder(), subject, decision, decision.bits, run, coded, random);
  if (!measured) return nullptr;
  forward_.notes->errors(site, *measured);
  find_directions(site, subject, decision, run, *measured);
  const bool has_directions = subject.directions && decision.directions_choice.count > 0;
  if (!decision.takes_bits() || has_directions) return nullptr;
  return compression_->coder().codec(measured->kind, decision.bits, &subject);
}

CompressionUser::RunKey CompressionUser::key_of(const Saved& saved) {
  const at::Tensor& view = saved.view;
  // Probabilities serve as well where anything linear would do.
  const StorageKind storage =
      saved.decision.takes_bits() ? StorageKind::rotated : saved.decision.storage;
  RunKey key{saved.event.memory.address(),
             saved.tensor._version(),
             view.storage_offset(),
             view.scalar_type(),
             view.numel(),
             storage,
             {},
             {}};
  if (!view.is_non_overlapping_and_dense()) {
    key.sizes = view.sizes().vec();
    key.strides = view.strides().vec();
  }
  return key;
}

/// Where it saves next.
SiteKey CompressionUser::site_of(const SaveEvent& event) const {
  const auto known = calls_.find({event.facts.operation, event.argument});
  return {event.facts.operation, event.argument, known == calls_.end() ? 0 : known->second};
}

codecs::RandomStream CompressionUser::next_random(at::Device device) {
  const c10::Stream stream = c10::impl::VirtualGuardImpl(device.type()).getStream(device);
  const auto [known, is_new] = seeds_.try_emplace({stream.device().str(), stream.id()});
  if (is_new) known->second = ops::seed_on(device, forward_.seed);
  return {known->second, coded_++};
}

/// Classes are of what lies where the operation left it.
Subject CompressionUser::subject_of(const at::Tensor& run, const Saved& saved) const {
  const bool is_view = run.data_ptr() == saved.view.data_ptr();
  return {saved.event, is_view ? tracker_.classes_of(saved.view) : std::nullopt};
}

CompressionUser::EncodedRun CompressionUser::encode(const at::Tensor& run, const Saved& saved,
                                                    Subject subject) {
  const auto& [tensor, view, event, decision, site] = saved;
  subject.directions =
      directions_for(decision.directions, choice_for(decision, run.numel()), run, subject);
  if (subject.directions && decision.directions->basis.device() != run.device()) {
    forward_.notes->move_directions(site, run.device());
  }
  const codecs::CodecPointer codec = compression_->codec_of(subject, decision);
  if (!codec->takes(run)) return {};
  const bool leaves =
      forward_.offload && compression_->offloads(decision) && forward_.offload->takes(run.device());
  const bool is_copy =
      decision.storage == StorageKind::offloaded || decision.storage == StorageKind::codes;
  if (is_copy && !leaves) return {};
  TORCH_CHECK(!leaves || !ops::is_captured(run.device()), "CompressionScope: ", std::get<0>(site),
              " has its tensor offloaded while ", run.device(),
              " is captured into a graph: the host's memory would be given to others between runs; "
              "accepted: CompressorOptions without offload, sites kept otherwise");
  codecs::RandomStream random;
  if (decision.takes_bits()) random = next_random(run.device());
  // Measured and offloaded at once: what waits could not be.
  const bool is_alone = leaves || decision.is_due || decision.is_observed;
  RunPointer encoded =
      is_alone ? codec->encode(run, random) : codec->encode_among(small_, run, random);
  if (!encoded) return {};
  const int table_bits = activation_ ? activation_->table.bits() : 0;
  int64_t offloaded_bytes = leaves ? codecs::bytes_to_offload(*encoded) : 0;
  forward_.notes->stored(site, subject, decision,
                         {stored_by(decision.storage, *codec, table_bits), run.numel(),
                          static_cast<int64_t>(run.nbytes()),
                          bytes_of(encoded->tensors()) - offloaded_bytes, offloaded_bytes});
  if (decision.is_due) {
    // What was found to be better is so from the first tensor on.
    const codecs::CodecPointer better =
        measure(site, subject, decision, run, CodedRun{codecs::text_of(*codec), encoded}, random);
    if (compression_->coder().follows_gradients()) sensitivities_.add(site, run, event, decision);
    if (better && codecs::text_of(*better) != codecs::text_of(*codec)) {
      encoded = better->encode(run, random);
      offloaded_bytes = leaves ? codecs::bytes_to_offload(*encoded) : 0;
      forward_.notes->stored_otherwise(site, stored_by(decision.storage, *better, table_bits),
                                       bytes_of(encoded->tensors()) - offloaded_bytes,
                                       offloaded_bytes);
    }
  }
  return {offloaded_bytes > 0 ? codecs::offloaded(std::move(encoded), *forward_.offload) : encoded,
          codec->keeps_signs()};
}

/// Of later tensors: this one's own would promise more than they hold.
void CompressionUser::find_directions(const SiteKey& site, const Subject& subject,
                                      const SaveDecision& decision, const at::Tensor& run,
                                      const Measured& measured) {
  const int64_t most = compression_->coder().most_directions();
  if (most == 0 || decision.storage != StorageKind::rotated) return;
  FoundDirections found{session::find_directions(run, subject, decision.directions, most), 0.0};
  // The rests are of those that were measured.
  if (found.directions && measured.error_beside_directions &&
      found.directions->rests.size() == decision.directions->rests.size()) {
    const double left = left_of(*found.directions, choice_for(decision, run.numel()));
    const double expected = compression_->coder().expected_error(CodecKind::rotated, measured.bits);
    found.error_of_rest = *measured.error_beside_directions / (expected * left);
  }
  forward_.notes->directions(site, found);
}

/// Of codes that are not made yet there is no error.
void CompressionUser::measure_recomputed(const Saved& saved, const at::Tensor& run,
                                         const RecomputeTracker::Recomputed& recomputed) {
  const Unmeasured one{saved.site, saved.decision.is_norm, run, recomputed.shown, recomputed.root};
  const auto waiting = undecided_.find(recomputed.root);
  if (waiting == undecided_.end()) return measure(one);
  waiting->second.push_back(one);
}

void CompressionUser::measure(const Unmeasured& one) {
  const double error = error_of(one.run, parts_of(one.recomputed, one.run), one.is_norm);
  forward_.notes->recomputed_error(one.site, error, one.root);
}

void CompressionUser::measure_what_comes_of(const SiteKey& root) {
  const auto waiting = undecided_.find(root);
  if (waiting == undecided_.end()) return;
  const std::vector<Unmeasured> all = std::move(waiting->second);
  undecided_.erase(waiting);
  for (const Unmeasured& one : all) measure(one);
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

void CompressionUser::note_recomputed(const Saved& saved,
                                      const RecomputeTracker::Recomputed& recomputed) {
  const auto& [tensor, view, event, decision, site] = saved;
  forward_.notes->stored(site, {event}, decision,
                         {{.storage = Storage::recomputed, .recomputed_by = recomputed.path},
                          view.numel(),
                          static_cast<int64_t>(view.nbytes()),
                          bytes_of_new(recomputed.copies),
                          0,
                          recomputed.is_asked_for});
  if (decision.is_due && decision.takes_bits()) {
    const at::Tensor run = ops::dense(view);
    const codecs::RandomStream random = next_random(run.device());
    measure(site, subject_of(run, saved), decision, run, {}, random);
    measure_recomputed(saved, run, recomputed);
  }
  uses_.need_codes(recomputed.root);
}

std::unique_ptr<const PackedTensor> CompressionUser::recompute(
    const Saved& saved, const RecomputeTracker::Recomputed& recomputed, Run& known) {
  note_recomputed(saved, recomputed);
  known = {saved.event.memory.owner, recomputed.shown.run, {}, saved.site, 0, true};
  return coded(recomputed.shown, saved.tensor, saved.view, &saved.event);
}

std::unique_ptr<const PackedTensor> CompressionUser::code(const Saved& saved, Run& known) {
  const auto& [tensor, view, event, decision, site] = saved;
  const at::Tensor run = ops::dense(view);
  const uint64_t sample = sample_of(run);
  RunPointer encoded = known.encoded.lock();
  std::shared_ptr<StoredRun> stored = known.stored.lock();
  if (encoded && !known.is_recomputed && known.sample == sample) {
    latest_ = known.site;
    forward_.notes->raise(known.site, decision);
  } else {
    const auto recomputed =
        decision.compares_recomputed() ? tracker_.find(view, event) : std::nullopt;
    bool keeps_signs = false;
    if (waits(run, saved)) {
      stored = wait(saved, recomputed);
    } else {
      EncodedRun now = encode(run, saved, subject_of(run, saved));
      if (!now.codes) {
        if (decision.storage == StorageKind::offloaded) leave(saved, known);
        return nullptr;
      }
      keeps_signs = now.keeps_signs;
      if (recomputed) measure_recomputed(saved, run, *recomputed);
      stored = std::make_shared<StoredRun>(std::move(now.codes));
    }
    encoded = remember(saved, run, sample, stored, known, keeps_signs);
    keep_exact_if_less(saved);
  }
  const Shown shown{encoded, run.sizes().vec(), run.strides().vec(), 0};
  if (decision.storage == StorageKind::mask) tracker_.keep_mask(shown, event);
  if (decision.storage == StorageKind::codes) tracker_.keep_codes(shown, event);
  if (decision.storage == StorageKind::integers) tracker_.keep_places(shown);
  return coded(shown, tensor, run, &event);
}

RunPointer CompressionUser::remember(const Saved& saved, const at::Tensor& run, uint64_t sample,
                                     const std::shared_ptr<StoredRun>& stored, Run& known,
                                     bool keeps_signs) {
  const auto& [tensor, view, event, decision, site] = saved;
  uses_.add(view, stored, site);
  if (event.facts.operation == kLogSoftmax) {
    const auto hold = [weak = std::weak_ptr(stored)](const at::Tensor& logarithms) {
      if (const auto alive = weak.lock()) alive->settle_exactly(exponential_of(logarithms));
    };
    of_result_ = {std::string(kLogSoftmax), stored, site, run.sizes().vec(),
                  run.strides().vec(),      hold};
  }
  const RunPointer encoded = compression_->held(stored, run);
  known = {event.memory.owner, encoded, stored, site, sample, false};
  if (decision.takes_bits() && run.sizes() == view.sizes() && run.data_ptr() == view.data_ptr()) {
    tracker_.add(view, encoded, site, keeps_signs);
  }
  return encoded;
}

void CompressionUser::keep_exact_if_less(const Saved& saved) {
  const auto& [tensor, view, event, decision, site] = saved;
  if (!uses_.exceeds_exact(view)) return;
  keep_exact(tensor, event);
  forward_.notes->stored(site, {event}, {},
                         {.stored = stored_exactly(),
                          .elements = view.numel(),
                          .bytes_before = static_cast<int64_t>(view.nbytes()),
                          .bytes_after = event.memory.bytes});
}

std::unique_ptr<const PackedTensor> CompressionUser::coded(const Shown& shown,
                                                           const at::Tensor& tensor,
                                                           const at::Tensor& view,
                                                           const SaveEvent* event) const {
  const bool has_pieces = event != nullptr && reads_pieces(event->facts.operation);
  return std::make_unique<Coded>(shown, tensor, view, has_pieces ? largest_ : nullptr);
}

void CompressionUser::leave(const Saved& saved, Run& known) {
  const auto& [tensor, view, event, decision, site] = saved;
  const auto bytes = static_cast<int64_t>(view.nbytes());
  forward_.notes->stored(site, {event}, {}, {stored_exactly(), view.numel(), bytes, bytes, 0});
  known = {event.memory.owner, {}, {}, site, 0, false, true};
}

void CompressionUser::note_shared(const Saved& saved) {
  const auto& [tensor, view, event, decision, site] = saved;
  forward_.notes->stored(site, {event}, {},
                         {.stored = stored_exactly(ExactReason::shared),
                          .elements = view.numel(),
                          .bytes_before = static_cast<int64_t>(view.nbytes())});
}

void CompressionUser::keep_exact(const at::Tensor& tensor, const SaveEvent& event) {
  if (!tensor.has_storage() || is_of_parameter(tensor)) return;
  if (!latest_ && !uses_.is_exact(tensor) && event.memory.bytes >= kManyBytes) {
    forward_.notes->left(event.facts.operation, reason_left(tensor, event), event.memory.bytes);
  }
  for (const SiteKey& site : uses_.keep_exact(tensor)) {
    forward_.notes->shared(site);
  }
}

/// A view would hold all of its memory: a copy, as long as all copies and codes take less.
std::unique_ptr<const PackedTensor> CompressionUser::keep_small(const Saved& saved) {
  constexpr int64_t kManyTimes = 4;
  const auto& [tensor, view, event, decision, site] = saved;
  const auto bytes = static_cast<int64_t>(view.nbytes());
  if (event.memory.bytes <= kManyTimes * bytes) return nullptr;
  if (!view.has_storage() || uses_.is_exact(view)) return nullptr;
  const at::Tensor run = ops::dense(view);
  Run& known = runs_[key_of(saved)];
  std::shared_ptr<StoredRun> stored = known.stored.lock();
  if (!stored) {
    stored = std::make_shared<StoredRun>(codecs::identity()->encode(run, {}));
    uses_.add(view, stored, site);
    known = {event.memory.owner, stored, stored, site};
    forward_.notes->stored(site, {event}, {},
                           {StoredAs{.codec = "copy"}, view.numel(), bytes, bytes});
    if (uses_.exceeds_exact(view)) keep_exact(tensor, event);
  }
  return coded({stored, run.sizes().vec(), run.strides().vec(), 0}, tensor, run);
}

/// What an activation saves that runs as libtorch's own.
void CompressionUser::leave_own_activation(const at::Tensor& tensor, const SaveEvent& event,
                                           const SaveDecision& decision) {
  const auto own = std::exchange(exact_activation_, std::nullopt);
  if (!own) return;
  const at::Tensor view = ops::unexpanded(tensor);
  const Saved saved{tensor, view, event, decision, *own};
  latest_ = *own;
  if (uses_.is_exact(tensor)) {
    note_shared(saved);
  } else {
    leave(saved, runs_[key_of(saved)]);
  }
}

std::unique_ptr<const PackedTensor> CompressionUser::kept(const at::Tensor& tensor,
                                                          const SaveEvent& event) {
  if (event.facts.operation == kAttention && event.argument < 0 && event.arguments != nullptr) {
    const at::Tensor mask = masks_.shared(mask_of_attention(event), tensor);
    return mask.is_same(tensor) ? nullptr : kept_unchanged(mask);
  }
  tracker_.keep(tensor, event);
  const bool is_of_activation = exact_activation_ || activation_storage_;
  if (event.facts.parameter && !is_of_activation) return nullptr;  // it lives whoever saves it
  const SiteKey site = site_of(event);
  SaveDecision decision = compression_->decide(site, tensor, event);
  const auto activation_storage = std::exchange(activation_storage_, std::nullopt);
  if (activation_storage && may_take_bits(tensor, event)) {
    static_cast<SavePolicy&>(decision) = {*activation_storage, 1.0};
  }
  if (decision.storage == StorageKind::exact) {
    leave_own_activation(tensor, event, decision);
    return nullptr;
  }
  forward_.notes->saves(site, event);
  if (decision.storage != StorageKind::codes) settle({});
  ++calls_[{event.facts.operation, event.argument}];  // of a small tensor too: batches differ
  const at::Tensor view = ops::unexpanded(tensor);
  Saved saved{tensor, view, event, decision, site};
  if (is_too_small(view)) {
    if (decision.storage == StorageKind::codes) note_activation(saved);
    settle(classes_of_waiting(event));
    return keep_small(saved);
  }
  Run& known = runs_[key_of(saved)];
  latest_ = known.is_exact ? known.site : site;
  if (known.is_exact) {
    settle({});
    return nullptr;
  }
  if (decision.storage == StorageKind::codes) {
    auto kept = keep_codes(saved, known);
    settle(classes_of_waiting(event));
    return watch_codes(saved, std::move(kept));
  }
  return kept_elements(saved, known);
}

/// By a plan or as others hold it already; from other codes; in codes, at once or later.
std::unique_ptr<const PackedTensor> CompressionUser::kept_elements(Saved& saved, Run& known) {
  const std::optional<Storage> planned = saved.decision.planned;
  if (planned && known.encoded.expired()) {
    if (*planned == Storage::exact) {
      leave(saved, known);
      return nullptr;
    }
    if (*planned == Storage::offloaded && saved.decision.takes_bits()) {
      saved.decision.storage = StorageKind::offloaded;
    }
  }
  if (saved.decision.keeps_elements() && uses_.is_exact(saved.tensor)) {
    note_shared(saved);
    return nullptr;
  }
  if (auto kept = kept_recomputed(saved, known)) return kept;
  return is_followed(saved) ? code_later(saved, known, {}) : code(saved, known);
}

/// Null where it has to have codes of its own.
std::unique_ptr<const PackedTensor> CompressionUser::kept_recomputed(const Saved& saved,
                                                                     Run& known) {
  const SaveDecision& decision = saved.decision;
  const bool is_held = !known.encoded.expired();
  if (!decision.takes_bits() || (is_held && !known.is_recomputed)) return nullptr;
  if (!decision.planned && decision.has_rule) return nullptr;
  const auto recomputed = tracker_.find(saved.view, saved.event);
  if (!recomputed || uses_.is_held(recomputed->root)) return nullptr;
  const bool is_chosen = decision.recomputes(recomputed->is_asked_for);
  if (is_followed(saved) && (is_held || is_chosen)) return code_later(saved, known, recomputed);
  if (is_held) {
    latest_ = known.site;
    forward_.notes->raise(known.site, decision);
    return coded(recomputed->shown, saved.tensor, saved.view, &saved.event);
  }
  return is_chosen ? recompute(saved, *recomputed, known) : nullptr;
}

std::unique_ptr<const PackedTensor> CompressionUser::replace(const at::Tensor& tensor,
                                                             const SaveEvent& event) {
  const std::shared_ptr<SaveObserver> observer = compression_->observer();
  const c10::Device device = tensor.device();
  const double begin = observer ? observer->now(device) : 0.0;
  latest_.reset();
  left_.reset();
  if (recomputes_casts_) {
    if (auto cast = casts_.packed(tensor)) return cast;
  }
  std::unique_ptr<const PackedTensor> kept = this->kept(tensor, event);
  if (kept && tensor.is_floating_point()) {
    if (const auto dim = normalized_dimension(event)) kept = summing_to_one(std::move(kept), *dim);
  }
  const bool is_codes = event.facts.operation == kActivation;
  if (!kept && !is_codes && !event.facts.parameter && !is_in_backward()) {
    keep_exact(tensor, event);
    left_ = {event.memory.address(), tensor._version()};
  }
  if (!observer) return kept;
  if (!latest_) {
    const bool is_own = !event.facts.parameter && event.facts.maker != SavedTensor::kNoGradient;
    if (!kept && is_own && !is_of_parameter(tensor)) observer->leave(event.memory);
    return kept;
  }
  return observer->kept(*latest_, event, device, begin, std::move(kept));
}

/// Others may have replaced what was left to them.
Keeping CompressionUser::keep(const SaveEvent& event) {
  const std::optional<Left> left = std::exchange(left_, std::nullopt);
  if (!left || left->memory != event.memory.address()) return nullptr;
  Keeping holder = std::make_shared<int>();
  uses_.add_holder(left->memory, left->version, holder);
  return holder;
}

}  // namespace fewbit::session

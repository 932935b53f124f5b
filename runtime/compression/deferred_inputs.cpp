// Inputs of norms wait until it is known what becomes of the norms' outputs: an activation's codes
// tell where its input lay, so where the norm's did.
#include <cstdint>
#include <exception>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <c10/core/StreamGuard.h>
#include <c10/util/ScopeExit.h>

#include "compression/recorder.hpp"
#include "trace/streams.hpp"

namespace fewbit::session {

/// What is a copy, such as of a part of x, lies otherwise than what the norm gives.
bool CompressionUser::waits_for_output(const at::Tensor& run, const Saved& saved) const {
  const SaveDecision& decision = saved.decision;
  if (!compression_->codes_by_class(decision)) return false;
  if (!may_be_recomputed(saved.event.facts.operation) || decision.is_observed) return false;
  const bool is_view = run.sizes() == saved.view.sizes() && run.data_ptr() == saved.view.data_ptr();
  return is_view && may_be_followed(run) && !tracker_.classes_of(saved.view);
}

std::shared_ptr<StoredRun> CompressionUser::wait(
    const Saved& saved, std::optional<RecomputeTracker::Recomputed> recomputed) {
  const auto run = std::make_shared<StoredRun>(saved.view);
  waiting_.emplace(Waiting{run, saved.view, saved.event, saved.decision, saved.site,
                           current_stream(saved.view), std::move(recomputed)});
  waiting_->event.arguments = nullptr;  // which end with the norm
  return run;
}

/// What takes its memory may change it; what takes the norm's output decides what it is coded by.
void CompressionUser::follow_start(const RecordedCall& call) {
  if (takes(call, address_of(waiting_->input))) return settle({});
  const bool is_of_output = waiting_->output && takes(call, waiting_->output->memory());
  // Its result takes memory, too.
  if (is_of_output && waiting_->running == 0 && saves_no_classes(call.operation)) return settle({});
  if (!call.arguments.empty() && (waiting_->running > 0 || is_of_output)) ++waiting_->running;
}

void CompressionUser::follow_end(const RecordedCall& call) {
  if (waiting_->running > 0 && --waiting_->running == 0) return settle({});
  if (waiting_->has_ended || call.operation != waiting_->event.facts.operation) return;
  waiting_->has_ended = true;
  if (waiting_->decision.may_normalize) waiting_->statistics = statistics_of(call);
  if (call.results.empty() || !may_be_followed(call.results[0].toTensor())) return settle({});
  waiting_->output.emplace(call.results[0].toTensor());
  waiting_->strides = call.results[0].toTensor().strides().vec();
}

const CompressionUser::Concern& CompressionUser::concern_of(std::string_view operation) const {
  const auto place = reinterpret_cast<std::uintptr_t>(operation.data());
  Concern& concern = concerns_[(place / 16) % concerns_.size()];  // names are that far apart
  if (concern.place == operation.data() && concern.operation == operation) return concern;
  const bool is_so =
      may_be_recomputed(operation) || KnownClasses::follows(operation) ||
      ParameterCasts::follows(operation) || needs_arguments(operation) ||
      (compression_->coder().follows_gradients() && Sensitivities::follows(operation));
  concern = {operation.data(), std::string(operation), is_so, saves_late(operation),
             session::is_in_place(operation)};
  return concern;
}

/// What waits would be changed.
void CompressionUser::settle_small_before(const RecordedCall& call) {
  const auto waits = [this](const at::Tensor& tensor) { return small_.holds_memory_of(tensor); };
  if (takes_any(call, waits)) small_.settle();
}

void CompressionUser::start_call(const RecordedCall& call) {
  if (concern_of(call.operation).is_in_place && !small_.is_empty()) settle_small_before(call);
  if (waiting_ && waiting_->has_ended) follow_start(call);
  if (!consumers_.is_empty()) consumers_.start_call(call);
  if (concern_of(call.operation).saves_late) consumers_.start_function(call);
  if (concerns(call.operation) && !ParameterCasts::follows(call.operation)) {
    tracker_.start_call(call);
  }
}

void CompressionUser::note_cast(const RecordedCall& call) {
  if (!recomputes_casts_ || call.results.empty() || !call.arguments[0].isTensor()) return;
  const at::Tensor parameter = call.arguments[0].toTensor();
  if (!parameter.is_leaf()) return;
  if (!parameter.requires_grad() && !forward_.rules->knows(parameter)) return;
  casts_.note(parameter, call.results[0].toTensor());
}

void CompressionUser::end_call(const RecordedCall& call) {
  if (waiting_) follow_end(call);
  if (!consumers_.is_empty()) consumers_.end_call(call);
  if (concern_of(call.operation).saves_late) consumers_.end_function(call);
  if (of_result_ && call.operation == of_result_->operation) follow_result(call);
  if (!concerns(call.operation)) return;
  if (ParameterCasts::follows(call.operation)) return note_cast(call);
  tracker_.end_call(call);
  sensitivities_.end_call(call);
}

bool CompressionUser::waits_for_codes_of(const at::Tensor& x) const {
  if (!waiting_ || !waiting_->output || address_of(x) != waiting_->output->memory()) return false;
  constexpr int64_t kWorthwhile = 1 << 20;
  const auto bytes = static_cast<int64_t>(waiting_->input.nbytes());
  return bytes >= kWorthwhile && largest_->is_large(bytes);
}

std::optional<codecs::Classes> CompressionUser::classes_of_waiting(const SaveEvent& event) const {
  if (!waiting_ || !waiting_->output || event.arguments == nullptr) return std::nullopt;
  if (event.facts.operation != kActivation || !tracker_.codes()) return std::nullopt;
  const at::Tensor x = event.arguments->at(0).toTensor();
  const Contents& output = *waiting_->output;
  // Class by class in the order of the input's memory.
  const bool is_output = may_be_followed(x) && address_of(x) == output.memory() &&
                         x.numel() == output.count() && output.place_of(x).has_value();
  const bool is_alike = waiting_->input.sizes() == x.sizes() &&
                        waiting_->input.strides() == x.strides() &&
                        waiting_->strides == x.strides().vec();
  if (!is_output || !is_alike) return std::nullopt;
  if (waiting_->stream != current_stream(waiting_->input)) return std::nullopt;
  auto classes = KnownClasses::of_activation(*event.arguments, *tracker_.codes());
  if (classes) classes->zero.reset();  // of the output
  return classes;
}

void CompressionUser::settle_waiting(const std::optional<codecs::Classes>& classes) {
  const Waiting waiting = *std::exchange(waiting_, std::nullopt);
  const c10::StreamGuard guard(waiting.stream);
  const at::Tensor& run = waiting.input;
  const Saved saved{run, run, waiting.event, waiting.decision, waiting.site};
  EncodedRun now;
  if (waiting.run->is_settled()) return;  // others hold it as it is
  const auto settled = c10::make_scope_exit([&] { waiting.run->settle(now.codes); });
  // By no operation of libtorch's, but by a custom function's own code.
  if (waiting.run->has_changed()) return;
  now = encode(run, saved, {waiting.event, classes, waiting.statistics});
  if (now.codes && waiting.recomputed) measure_recomputed(saved, run, *waiting.recomputed);
}

void CompressionUser::end_forward() noexcept {
  const auto or_keep_failure = [this](const auto& end) {
    try {
      const at::NoGradGuard no_grad;
      end();
    } catch (...) {
      compression_->keep_failure(std::current_exception());
    }
  };
  or_keep_failure([this] {
    settle({});
    consumers_.end();
  });
  or_keep_failure([this] { small_.settle(); });
  uses_.end();
  compiled_seeds_.reset();
  compression_->end_forward(*forward_.notes);
}

}  // namespace fewbit::session

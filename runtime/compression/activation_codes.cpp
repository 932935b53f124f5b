// The codes of an activation's derivative, and what they give way to.
#include "compression/probabilities.hpp"
#include "compression/recorder.hpp"
#include "dispatch/activation_call.hpp"
#include "ops/activation_arguments.hpp"
#include "ops/exact_gradient.hpp"
#include "trace/model_parameters.hpp"

namespace fewbit::session {

/// Those of an activation.
std::unique_ptr<const PackedTensor> CompressionUser::keep_codes(const Saved& saved, Run& known) {
  const auto recomputed = tracker_.find(saved.view, saved.event);
  if (recomputed && recomputed->is_asked_for) {
    tracker_.keep_codes(recomputed->shown, saved.event);
    return recompute(saved, *recomputed, known);
  }
  if (forward_.offload && compression_->offloads(saved.decision)) {
    if (auto kept = code(saved, known)) return kept;
  }
  note_activation(saved);
  return nullptr;
}

void CompressionUser::expect_activation(const Table& table, bool is_given, const at::Tensor& x) {
  activation_.emplace(Activation{table, is_given, x.numel(), static_cast<int64_t>(x.nbytes()),
                                 parameters_of_maker(x)});
}

void CompressionUser::keep_next_activation(StorageKind storage) {
  activation_storage_ = storage;
}

void CompressionUser::note_activation(const Saved& saved) {
  const auto activation = std::exchange(activation_, std::nullopt);
  if (!activation) {  // by a function of ours
    latest_.reset();
    return;
  }
  SaveEvent event = saved.event;
  event.parameters = activation->makers;
  forward_.notes->stored(saved.site, {event}, saved.decision,
                         {.stored = stored_by_table(activation->table.bits()),
                          .elements = activation->elements,
                          .bytes_before = activation->bytes,
                          .bytes_after = static_cast<int64_t>(saved.view.nbytes())});
  forward_.notes->table(saved.site, activation->table, activation->is_given);
}

SiteKey CompressionUser::next_activation() {
  const std::pair site(std::string(kActivation), -1);
  return {site.first, site.second, calls_[site]};
}

void CompressionUser::keep_next_activation_exact() {
  exact_activation_ = next_activation();
  ++calls_[std::pair(std::string(kActivation), -1)];
}

/// An activation has its number also where a checkpoint saves its codes.
void CompressionUser::pass_over() {
  if (activation_) ++calls_[std::pair(std::string(kActivation), -1)];
  expect_nothing();
}

void CompressionUser::expect_nothing() {
  activation_.reset();
  activation_storage_.reset();
  exact_activation_.reset();
}

/// Codes give way to the input where others save that as it is, and where a logarithm follows. What
/// works in place writes over its input, so its result serves, or a copy that waits.
std::unique_ptr<const PackedTensor> CompressionUser::watch_codes(
    const Saved& saved, std::unique_ptr<const PackedTensor> kept) {
  const SaveEvent& event = saved.event;
  if (event.arguments == nullptr || saved.decision.is_observed) return kept;
  const std::vector<c10::IValue>& arguments = *event.arguments;
  const std::string& function = arguments[ops::kFunctionArgument].toStringRef();
  const auto gradient =
      ops::exact_gradient_of(function, arguments[ops::kParametersArgument].toDoubleVector());
  if (!gradient) return kept;
  if (!kept) kept = kept_unchanged(saved.tensor);
  const auto state = std::make_shared<CodesOrInput>(std::move(kept));
  const at::Tensor x = arguments[0].toTensor().tensor_data();
  const bool in_place = arguments[ops::kInPlaceArgument].toBool();
  const Factor factor = gradient->is_step        ? Factor::none
                        : is_vanishing(function) ? Factor::vanishing
                                                 : Factor::derivative;
  if (in_place || keeps_output(function)) {
    const std::string& operation = in_place ? event.caller : event.facts.operation;
    of_result_ = {operation, state, saved.site, x.sizes().vec()};
    of_result_->is_only_followed = !gradient->is_of_result;
    if (factor != Factor::none) {
      const at::Tensor copy = gradient->is_of_result ? at::Tensor() : x.clone();
      of_result_->follow = [this, state, operation, copy, factor,
                            site = saved.site](const at::Tensor& result) {
        const at::Tensor exact = copy.defined() ? copy : result.tensor_data();
        consumers_.follow_result(operation, exact, result, state.get(), factor,
                                 exact_instead(exact, site, state));
      };
    }
    return kept_in(state);
  }
  uses_.add(x, state, saved.site);
  if (uses_.exceeds_exact(x)) {
    for (const auto& site : uses_.keep_exact(x)) forward_.notes->shared(site);
    forward_.notes->stored_otherwise(saved.site, stored_exactly(), memory_of(x).bytes);
  } else if (factor != Factor::none) {
    consumers_.follow(event.facts.operation, x, state.get(), factor,
                      exact_instead(x, saved.site, state));
  }
  return kept_in(state);
}

/// Numbers in the stead of an activation's codes, where that is decided.
Consumers::Decide CompressionUser::exact_instead(const at::Tensor& numbers, const SiteKey& site,
                                                 const std::shared_ptr<CodesOrInput>& state) {
  return [this, numbers, version = numbers._version(), site,
          weak = std::weak_ptr(state)](const Consumers::Decision& decision) {
    const auto alive = weak.lock();
    if (!decision.is_exact || !alive || alive->holds_input() || numbers._version() != version) {
      return;
    }
    for (const auto& other : uses_.keep_exact(numbers)) forward_.notes->shared(other);
    alive->hold(numbers);
    uses_.add_holder(address_of(numbers), version, alive);
    forward_.notes->stored_otherwise(site, stored_exactly(decision.reason()),
                                     static_cast<int64_t>(numbers.nbytes()));
  };
}

}  // namespace fewbit::session

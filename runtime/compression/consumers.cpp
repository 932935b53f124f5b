#include "compression/consumers.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/ops/div.h>

#include "trace/running_operations.hpp"

namespace fewbit::session {

namespace {

/// So many wait at most, each as it is.
constexpr size_t kMostFollowed = 64;
/// So many tensors that are computed from one result are followed.
constexpr size_t kMostResults = 256;

bool is_number(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() && value.toTensor().is_floating_point();
}

bool is_integer(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() &&
         at::isIntegralType(value.toTensor().scalar_type(), /*includeBool=*/true);
}

/// What a sum or mean gives, to broadcast with its input: with the dimensions that it is over.
at::Tensor beside(const RecordedCall& call) {
  at::Tensor result = call.results[0].toTensor().detach();
  const int64_t dimensions = call.arguments[0].toTensor().dim();
  if (result.dim() == dimensions || call.arguments.size() < 2) return result;
  if (!call.arguments[1].isIntList()) return result;
  std::vector<int64_t> over = call.arguments[1].toIntVector();
  for (int64_t& i : over) i = i < 0 ? i + dimensions : i;
  std::ranges::sort(over);
  for (const int64_t i : over) result = result.unsqueeze(i);
  return result;
}

/// That a mean or, as inside of one, a sum gives; undefined for others.
at::Tensor mean_of(const RecordedCall& call) {
  const std::string_view name = plain_name(call.operation);
  if (name == "mean") return beside(call);
  if (name != "sum") return {};
  const at::Tensor sum = beside(call);
  return at::div(
      sum, static_cast<double>(count_of(call.arguments[0])) / static_cast<double>(sum.numel()));
}

/// Of a norm over channels; 0 for others.
int64_t channels_of(const RecordedCall& call) {
  if (!is_norm_of_channels(call.operation)) return 0;
  const at::Tensor x = call.arguments[0].toTensor();
  return x.dim() > 1 ? x.size(1) : 0;
}

/// Losses hardly divide by results of such factors: where nothing says that one does, they are
/// coded.
bool is_rarely_divided(Factor factor) {
  return factor == Factor::product || factor == Factor::derivative;
}

}  // namespace

void Consumers::follow(const std::string& operation, const at::Tensor& saved, const void* run,
                       Factor factor, Decide decide) {
  const bool is_known = std::ranges::any_of(followed_, [&](const Followed& followed) {
    return followed.run == run && !followed.has_ended && followed.operation == operation;
  });
  if (is_known) return;
  followed_.push_back({operation, memory_of(saved), run, factor, std::move(decide)});
  leave(kMostFollowed);
}

void Consumers::follow_input(const std::string& operation, const at::Tensor& input, const void* run,
                             int64_t frame, Decide decide) {
  if (follow_on(operation, input, run, decide)) return;
  Followed followed{operation, memory_of(input), run, Factor::input, std::move(decide)};
  followed.frame = frame;
  follow_ended(std::move(followed), input);
}

bool Consumers::follow_on(const std::string& operation, const at::Tensor& input, const void* run,
                          const Decide& decide) {
  const auto latest = std::find_if(unsaved_.rbegin(), unsaved_.rend(), [&](const auto& unsaved) {
    return unsaved->operation == operation && unsaved->input.address() == address_of(input);
  });
  if (latest == unsaved_.rend()) return false;
  const std::shared_ptr<Unsaved> unsaved = *latest;
  unsaved_.erase(std::next(latest).base());
  const auto followed = std::ranges::find(followed_, unsaved.get(), &Followed::run);
  if (followed == followed_.end()) {
    decide(unsaved->decision.value());
  } else if (followed->is_of_layer) {
    const Decision decision{.mean = followed->mean, .channels = followed->channels};
    followed_.erase(followed);
    decide(decision);
  } else {
    followed->run = run;
    followed->decide = decide;
  }
  return true;
}

void Consumers::start_function(const RecordedCall& call) {
  for (const c10::IValue& argument : call.arguments) {
    if (!is_number(argument)) continue;
    const at::Tensor& input = argument.toTensor();
    const auto unsaved = std::make_shared<Unsaved>(
        Unsaved{&call.arguments, std::string(call.operation), memory_of(input)});
    unsaved_.push_back(unsaved);
    Followed followed{unsaved->operation, memory_of(input), unsaved.get(), Factor::input,
                      [unsaved](const Decision& decision) { unsaved->decision = decision; }};
    followed.frame = kFrameWithoutEnd;
    follow_ended(std::move(followed), input);
  }
}

void Consumers::end_function(const RecordedCall& call) {
  std::erase_if(unsaved_, [&](const auto& unsaved) {
    if (unsaved->call != &call.arguments) return false;
    std::erase_if(followed_, [&](const Followed& one) { return one.run == unsaved.get(); });
    return true;
  });
}

void Consumers::follow_result(const std::string& operation, const at::Tensor& saved,
                              const at::Tensor& result, const void* run, Factor factor,
                              Decide decide) {
  follow_ended({operation, memory_of(saved), run, factor, std::move(decide)}, result);
}

void Consumers::follow_ended(Followed followed, const at::Tensor& result) {
  followed.has_ended = true;
  add_result(result, followed.results);
  followed_.push_back(std::move(followed));
  leave(kMostFollowed);
}

/// Where too many wait: the oldest.
void Consumers::leave(size_t most) {
  while (followed_.size() > most) {
    const Followed oldest = std::move(followed_.front());
    followed_.erase(followed_.begin());
    oldest.decide({.is_exact = !is_rarely_divided(oldest.factor), .is_taken = false});
  }
}

void Consumers::end() {
  for (const Followed& followed : std::exchange(followed_, {})) {
    const bool stays = !is_rarely_divided(followed.factor) && is_held(followed);
    followed.decide({.is_exact = stays,
                     .is_taken = false,
                     .mean = followed.mean,
                     .channels = followed.channels});
  }
}

bool Consumers::is_held(const Followed& followed) {
  const auto is_alive = [](const Result& result) { return !result.tensor.expired(); };
  return std::ranges::any_of(followed.results, is_alive) ||
         std::ranges::any_of(followed.sums, is_alive);
}

bool Consumers::takes_any(const RecordedCall& call, const std::vector<Result>& results) {
  return std::ranges::any_of(
      results, [&](const Result& result) { return takes(call, result.memory.address()); });
}

bool Consumers::weighs_sums(const RecordedCall& call, const Followed& followed) {
  return !followed.sums.empty() && weighs(call) && takes_any(call, followed.sums);
}

bool Consumers::is_end_of(const RecordedCall& call, const Followed& followed) {
  return followed.frame != 0 && call.operation == kEndOfFrame &&
         call.arguments.at(0).toInt() == followed.frame;
}

bool Consumers::chooses_within(const RecordedCall& call, const Followed& followed) {
  if (followed.frame == 0) return false;
  if (takes_any(call, followed.integers)) return true;
  return is_choice(call) && std::ranges::any_of(call.arguments, is_number);
}

std::optional<Consumer> Consumers::consumer(const RecordedCall& call, const Followed& followed) {
  std::optional<Consumer> by;
  for (const Result& result : followed.results) {
    const void* memory = result.memory.address();
    if (!takes(call, memory)) continue;
    by = std::max(by.value_or(Consumer::passes), consumer_of(call, memory, followed.factor));
  }
  return by;
}

/// What is decided is no longer among the followed ones when it is told.
void Consumers::decide(const RecordedCall& call) {
  // What is only looked at has no gradient, nor has what runs within an operation.
  const bool has_gradient = std::ranges::any_of(call.results, [](const c10::IValue& result) {
    return result.isTensor() && result.toTensor().defined() && result.toTensor().requires_grad();
  });
  std::vector<std::pair<Decide, Decision>> decided;
  std::erase_if(followed_, [&](Followed& followed) {
    const std::optional<Consumer> by = consumer(call, followed);
    if (by == Consumer::sums && has_gradient && !followed.mean.defined() &&
        lies_in(call.arguments[0], followed.results[0].memory.address())) {
      followed.mean = mean_of(call);
    }
    if (by && followed.channels == 0) followed.channels = channels_of(call);
    const bool is_summed =
        by == Consumer::sums && has_gradient && is_rarely_divided(followed.factor);
    followed.is_of_layer |= by == Consumer::sums && is_layer(call.operation);
    const bool changes =
        is_in_place(call.operation) && lies_in(call.arguments[0], followed.saved.address());
    const bool is_gone = followed.has_ended && !is_held(followed);
    const bool is_over = followed.is_of_layer && is_end_of(call, followed);
    const bool is_lost = followed.results.size() > kMostResults;
    const bool is_exact = by == Consumer::divides || weighs_sums(call, followed) ||
                          chooses_within(call, followed) ||
                          (is_lost && !is_rarely_divided(followed.factor));
    if (!is_exact && !is_summed && !changes && !is_gone && !is_lost && !is_over) return false;
    decided.emplace_back(
        std::move(followed.decide),
        Decision{.is_exact = is_exact, .mean = followed.mean, .channels = followed.channels});
    return true;
  });
  for (const auto& [decide, decision] : decided) decide(decision);
}

void Consumers::start_call(const RecordedCall& call) {
  if (!is_in_backward() && !call.arguments.empty()) decide(call);
}

void Consumers::end_call(const RecordedCall& call) {
  if (is_in_backward()) return;
  decide(call);
  for (Followed& followed : followed_) {
    const bool is_own = !followed.has_ended && call.operation == followed.operation;
    const std::optional<Consumer> by = consumer(call, followed);
    followed.has_ended |= is_own;
    if (is_own || by == Consumer::passes) add_results(call, followed.results);
    if (followed.frame != 0 && std::ranges::any_of(call.arguments, is_number)) {
      for (const c10::IValue& result : call.results) {
        if (is_integer(result)) add_result(result.toTensor(), followed.integers);
      }
    }
    if (followed.factor == Factor::square && is_weighable(call, by, followed)) {
      add_results(call, followed.sums);
    }
  }
}

/// Whether it gives sums of squares, one for each row or column, or a multiple of such.
bool Consumers::is_weighable(const RecordedCall& call, std::optional<Consumer> by,
                             const Followed& followed) {
  if (call.results.size() != 1 || count_of(call.results[0]) <= 1) return false;
  if (by == Consumer::sums) return is_reduction(call.operation);
  return takes_any(call, followed.sums) && is_scaling(call.operation);
}

void Consumers::add_result(const at::Tensor& tensor, std::vector<Result>& results) {
  if (!tensor.defined()) return;
  // A part that something was written into may be gone before the whole.
  const at::Tensor whole = tensor.is_view() ? at::Tensor(tensor._base()) : tensor;
  std::erase_if(results, [](const Result& result) { return result.tensor.expired(); });
  const bool is_known = std::ranges::any_of(results, [&](const Result& result) {
    return result.tensor._unsafe_get_target() == whole.unsafeGetTensorImpl();
  });
  if (!is_known) results.push_back({memory_of(tensor), Result::Held(whole.getIntrusivePtr())});
}

void Consumers::add_results(const RecordedCall& call, std::vector<Result>& results) {
  for (const c10::IValue& result : call.results) {
    if (result.isTensor()) add_result(result.toTensor(), results);
    if (!result.isTensorList()) continue;
    for (const at::Tensor& part : result.toTensorVector()) add_result(part, results);
  }
}

}  // namespace fewbit::session

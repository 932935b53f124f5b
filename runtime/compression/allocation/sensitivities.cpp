#include "compression/allocation/sensitivities.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sum.h>

#include "compression/operators/operator.hpp"

namespace fewbit::session {

namespace {

double squared_norm(const at::Tensor& tensor) {
  return at::sum(at::square(tensor.detach().to(at::kDouble))).item().toDouble();
}

Sensitivity sensitivity_of(std::string_view operation) {
  const Operator* by = find_operator(operation);
  return by == nullptr || is_in_place(operation) ? Sensitivity::none : by->sensitivity;
}

/// Elements of the input that one element of the output is a sum over.
double fan_in(const at::Tensor& tensor, const SaveEvent& event) {
  const Operator& by = *find_operator(event.facts.operation);
  if (by.fan_in != nullptr) return by.fan_in(NamedArguments(by, *event.arguments));
  return tensor.dim() > 0 ? static_cast<double>(tensor.size(-1)) : 1.0;
}

/// Whether a hook is of use: the operation gave a tensor that a gradient will come for.
bool has_gradient(const RecordedCall& call) {
  return !call.results.empty() && call.results[0].isTensor() &&
         call.results[0].toTensor().requires_grad();
}

}  // namespace

bool Sensitivities::follows(std::string_view operation) {
  return sensitivity_of(operation) != Sensitivity::none;
}

bool Sensitivities::is_layer(std::string_view operation) {
  return sensitivity_of(operation) == Sensitivity::layer;
}

/// A linear layer's dW is the sum over rows of a gradient's row times an input's, so that an error
/// e of the input adds |dy|^2 mean(e^2) fan_in to its squared error where the two are not related;
/// a convolution's the same with windows for rows, a norm's weight with its normalised input and
/// one factor each. Of log_softmax dx = dy - p sum(dy), in which an error e of p is -e sum(dy).
void Sensitivities::add(const SiteKey& site, const at::Tensor& tensor, const SaveEvent& event,
                        const SavePolicy& save_policy) {
  const std::string& operation = event.facts.operation;
  if (!follows(operation)) return;
  const auto elements = static_cast<double>(tensor.numel());
  double square = 1.0, terms = 1.0;
  if (!save_policy.is_norm) square = squared_norm(tensor) / elements;
  if (sensitivity_of(operation) == Sensitivity::layer) {
    if (event.arguments == nullptr) return;
    if (!save_policy.is_norm) terms = fan_in(tensor, event);
  }
  coded_.emplace_back(operation, Coded{site, square * terms / elements, elements});
}

void Sensitivities::end_call(const RecordedCall& call) {
  if (coded_.empty() || coded_.back().first != call.operation) return;
  std::vector<Coded> here;
  while (!coded_.empty() && coded_.back().first == call.operation) {
    here.push_back(coded_.back().second);
    coded_.pop_back();
  }
  if (!has_gradient(call)) return;
  if (sensitivity_of(call.operation) == Sensitivity::loss) return follow_loss(call, here[0]);
  follow_layer(call, here);
}

void Sensitivities::follow_layer(const RecordedCall& call, const std::vector<Coded>& here) {
  const auto hook = [note = note_, loss = loss_, here](const at::Tensor& gradient) {
    if (!gradient.defined()) return;
    const at::NoGradGuard no_gradient;
    const double energy = squared_norm(gradient);
    for (const Coded& coded : here) {
      note(coded.site, coded.factor * energy);
      loss->add_weights(coded.factor * energy * coded.elements);
    }
  };
  call.results[0].toTensor().register_hook(hook);
}

/// The error of its input's gradient is a share of that gradient's energy. The gradients of all
/// layers before, which a backward pass comes to later, have the same share.
void Sensitivities::follow_loss(const RecordedCall& call, const Coded& coded) {
  const at::Tensor result = call.results[0].toTensor(), input = call.arguments[0].toTensor();
  const int64_t dim = call.arguments[1].toInt();
  const double classes = result.dim() > 0 ? static_cast<double>(result.size(dim)) : 1.0;
  result.register_hook([loss = loss_, coded, classes, dim](const at::Tensor& gradient) {
    if (!gradient.defined()) return;
    const at::NoGradGuard no_gradient;
    const at::Tensor sums = gradient.detach().to(at::kDouble).sum(dim);
    loss->start(coded.site, coded.factor * classes * squared_norm(sums));
  });
  if (!input.requires_grad()) return;
  input.register_hook([loss = loss_, site = coded.site](const at::Tensor& gradient) {
    const at::NoGradGuard no_gradient;
    if (gradient.defined()) loss->set_energy(site, squared_norm(gradient));
  });
}

void Sensitivities::Loss::start(const SiteKey& site, double factor) {
  const std::lock_guard lock(mutex_);
  std::erase_if(sources_,
                [&](const Source& source) { return source.site == site; });  // a second pass
  sources_.push_back({site, factor});
}

void Sensitivities::Loss::set_energy(const SiteKey& site, double energy) {
  const std::lock_guard lock(mutex_);
  for (Source& source : sources_) {
    if (source.site != site) continue;
    source.energy = energy;
    note(source);
  }
}

void Sensitivities::Loss::add_weights(double energy) {
  const std::lock_guard lock(mutex_);
  for (Source& source : sources_) {
    source.weights += energy;
    note(source);
  }
}

void Sensitivities::Loss::note(const Source& source) const {
  if (source.energy == 0.0) return;
  note_(source.site, source.factor / source.energy * source.weights);
}

}  // namespace fewbit::session

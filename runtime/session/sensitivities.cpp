#include "session/sensitivities.hpp"

#include <algorithm>
#include <array>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/sum.h>

namespace fewbit::session {

namespace {

constexpr std::array<std::string_view, 7> kLayers = {"aten::addmm",
                                                     "aten::mm",
                                                     "aten::linear",
                                                     "aten::convolution",
                                                     "aten::_convolution",
                                                     "aten::native_layer_norm",
                                                     "aten::native_batch_norm"};

double energy_of(const at::Tensor& tensor) {
  return at::sum(at::square(tensor.detach().to(at::kDouble))).item().toDouble();
}

/// Elements of the input that one element of the output is a sum over.
double fan_in(const at::Tensor& tensor, const Saving& saving) {
  if (saving.facts.operation.find("convolution") == std::string::npos) {
    return tensor.dim() > 0 ? static_cast<double>(tensor.size(-1)) : 1.0;
  }
  const at::Tensor& weight = saving.arguments->at(1).toTensor();
  return static_cast<double>(weight.numel()) / static_cast<double>(weight.size(0));
}

}  // namespace

bool Sensitivities::follows(std::string_view operation) {
  return std::ranges::find(kLayers, operation) != kLayers.end();
}

/// A linear layer's dW is the sum over rows of a gradient's row times an input's, so that an error
/// e of the input adds |dy|^2 mean(e^2) fan_in to its squared error where the two are not related;
/// a convolution's the same with windows for rows, a norm's weight with its normalised input and
/// one factor each.
void Sensitivities::add(const Compression::SiteKey& site, const at::Tensor& tensor,
                        const Saving& saving, const Treatment& treatment) {
  if (!follows(saving.facts.operation) || saving.arguments == nullptr) return;
  const auto elements = static_cast<double>(tensor.numel());
  const double square = treatment.is_norm ? 1.0 : energy_of(tensor) / elements;
  const double terms = treatment.is_norm ? 1.0 : fan_in(tensor, saving);
  coded_.emplace_back(saving.facts.operation, Coded{site, square * terms / elements});
}

void Sensitivities::end_call(const RecordedCall& call) {
  if (coded_.empty() || coded_.back().first != call.operation) return;
  std::vector<Coded> here;
  while (!coded_.empty() && coded_.back().first == call.operation) {
    here.push_back(coded_.back().second);
    coded_.pop_back();
  }
  if (call.results.empty() || !call.results[0].isTensor()) return;
  const at::Tensor result = call.results[0].toTensor();
  if (!result.requires_grad()) return;
  result.register_hook([compression = compression_, here](const at::Tensor& gradient) {
    const auto alive = compression.lock();
    if (!alive || !gradient.defined()) return;
    const at::NoGradGuard no_gradient;
    const double energy = energy_of(gradient);
    for (const Coded& coded : here) alive->note_sensitivity(coded.site, coded.factor * energy);
  });
}

}  // namespace fewbit::session

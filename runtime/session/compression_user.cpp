#include "session/compression_user.hpp"

#include <limits>
#include <optional>

#include <ATen/ops/dot.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/sub.h>

#include "ops/layout.hpp"

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

/// A tensor whose elements are a run's, in its layout.
class Coded final : public Kept {
 public:
  Coded(std::shared_ptr<const codecs::Encoded> encoded, const at::Tensor& tensor,
        const at::Tensor& run)
      : encoded_(std::move(encoded)), sizes_(tensor.sizes().vec()), strides_(run.strides().vec()) {
    for (int64_t i = 0; i < tensor.dim(); ++i) {
      if (tensor.size(i) != run.size(i)) strides_[static_cast<size_t>(i)] = 0;
    }
  }

  at::Tensor restored() const override { return encoded_->decoded().as_strided(sizes_, strides_); }

  at::TensorList tensors() const override { return encoded_->tensors(); }

 private:
  std::shared_ptr<const codecs::Encoded> encoded_;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> strides_;
};

/// Squared, by the harm that it does.
double error_of(const at::Tensor& run, const codecs::Encoded& encoded, const Harm& harm) {
  const at::Tensor exact = run.as_strided({run.numel()}, {1}).to(at::kDouble);
  const at::Tensor rest = at::sub(encoded.decoded().to(at::kDouble), exact);
  const double error = at::dot(rest, rest).item().toDouble();
  if (harm.is_logarithm) return error / static_cast<double>(run.numel());
  const double energy = at::dot(exact, exact).item().toDouble();
  return energy == 0.0 ? 0.0 : error / energy;
}

}  // namespace

CompressionUser::RunKey CompressionUser::key_of(const at::Tensor& view, const Saving& saving,
                                                int64_t version) {
  RunKey key{saving.memory.address(),
             version,
             view.storage_offset(),
             view.scalar_type(),
             view.numel(),
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

std::shared_ptr<const codecs::Encoded> CompressionUser::encode(const at::Tensor& run,
                                                               const Saving& saving,
                                                               const Compression::SiteKey& site) {
  const int bits = compression_->bits_at(site, saving);
  const bool is_due = compression_->is_due(site);
  auto encoded = compression_->codec_of(bits)->encode(run, next_random(run.device()));
  const auto error =
      is_due ? std::optional(error_of(run, *encoded, harm_of(saving))) : std::nullopt;
  compression_->note(site, saving, bits, run, *encoded, error);
  return encoded;
}

std::unique_ptr<const Kept> CompressionUser::replace(const at::Tensor& tensor,
                                                     const Saving& saving) {
  if (!compression_->codes(tensor, saving)) return nullptr;
  const Compression::SiteKey site = next_site(saving);
  const at::Tensor view = unexpanded(tensor);
  const at::Tensor run = ops::dense(view);
  Run& known = runs_[key_of(view, saving, tensor._version())];
  std::shared_ptr<const codecs::Encoded> encoded = known.encoded.lock();
  if (encoded) {
    compression_->raise(known.site, saving);
  } else {
    encoded = encode(run, saving, site);
    known = {saving.memory.owner, encoded, site};
  }
  return std::make_unique<Coded>(std::move(encoded), tensor, run);
}

}  // namespace fewbit::session

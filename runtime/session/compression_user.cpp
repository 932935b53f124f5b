#include "session/compression_user.hpp"

#include <cstring>
#include <limits>

#include <ATen/ops/randint.h>

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

/// Tells contents apart that changed in place behind the version's back, as through data() or the
/// parts of unsafe_chunk: of 64 places.
uint64_t sample_of(const at::Tensor& run) {
  constexpr size_t kPlaces = 64;
  const auto* bytes = static_cast<const uint8_t*>(run.const_data_ptr());
  const size_t last = run.nbytes() - sizeof(uint64_t);
  uint64_t sample = 0;
  for (size_t i = 0; i < kPlaces; ++i) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + last * i / (kPlaces - 1), sizeof word);
    sample = (sample ^ word) * 0x9E3779B97F4A7C15u;
  }
  return sample;
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

}  // namespace

CompressionUser::RunKey CompressionUser::key_of(const at::Tensor& view, const Saving& saving,
                                                const Treatment& treatment, int64_t version) {
  // Probabilities serve as well where anything linear would do.
  const Way way = treatment.takes_bits() ? Way::rotated : treatment.way;
  RunKey key{saving.memory.address(),
             version,
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

std::shared_ptr<const codecs::Encoded> CompressionUser::encode(const at::Tensor& run,
                                                               const Saving& saving,
                                                               const Treatment& treatment,
                                                               const Compression::SiteKey& site) {
  const codecs::CodecPointer codec = compression_->codec_at(site, saving, treatment);
  if (!codec->takes(run)) return nullptr;
  const bool is_due = compression_->is_due(site);
  const codecs::RandomStream random = next_random(run.device());
  auto encoded = codec->encode(run, random);
  if (!encoded) return nullptr;
  compression_->note(site, saving, treatment, codec->name(), run, *encoded);
  if (is_due) compression_->measure(site, treatment, run, *encoded, random);
  return encoded;
}

std::unique_ptr<const Kept> CompressionUser::replace(const at::Tensor& tensor,
                                                     const Saving& saving) {
  const Treatment treatment = compression_->treatment(tensor, saving);
  if (treatment.way == Way::exact) return nullptr;
  const Compression::SiteKey site = next_site(saving);  // of a small tensor too: batches differ
  if (Compression::is_too_small(tensor)) return nullptr;
  const at::Tensor view = unexpanded(tensor);
  const at::Tensor run = ops::dense(view);
  Run& known = runs_[key_of(view, saving, treatment, tensor._version())];
  const uint64_t sample = sample_of(run);
  std::shared_ptr<const codecs::Encoded> encoded = known.encoded.lock();
  if (encoded && known.sample == sample) {
    compression_->raise(known.site, saving, treatment);
  } else {
    encoded = encode(run, saving, treatment, site);
    if (!encoded) return nullptr;
    known = {saving.memory.owner, encoded, site, sample};
  }
  return std::make_unique<Coded>(std::move(encoded), tensor, run);
}

}  // namespace fewbit::session

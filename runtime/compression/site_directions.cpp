#include "compression/site_directions.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linalg_eigh.h>
#include <ATen/ops/linalg_qr.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>

#include "codecs/common.hpp"

namespace fewbit::session {

namespace {

/// Fewer are not worth a look.
constexpr int64_t kFewestChannels = 16;
constexpr int64_t kFewestPlaces = 64;

/// Elements that are enough to find directions by, and of a piece of them.
constexpr int64_t kEnough = 1 << 21;
constexpr int64_t kPiece = 1 << 17;

/// Of adjacent places of a channel that a group's own mean is nearly theirs.
constexpr int64_t kOwnMean = 128;

/// Of the squared error, with what more bits would take off it.
constexpr double kWorthwhile = 0.8;
constexpr double kTwiceAsMany = 6.0 / 7.0;

bool has_heads(const at::Tensor& run) {
  return run.dim() == 4 && run.stride(3) == 1 && run.stride(1) == run.size(3) &&
         run.stride(2) == run.size(1) * run.size(3);
}

/// The first rows of a run, as what is coded of them lies in memory, piece by piece so that they
/// take little of it: [outer, channels, inner], in floats.
class Sample {
 public:
  Sample(const at::Tensor& run, const Subject& subject, const ops::ChannelPlace& place)
      : run_(run), subject_(subject), place_(place) {
    const codecs::Rows rows(run);
    if (!rows.are_outermost() || rows.begin(1) % place.block() != 0) return;
    const int64_t length = rows.begin(1);
    rows_ = std::clamp<int64_t>(kEnough / length, 1, run.size(0));
    rows_of_piece_ = std::clamp<int64_t>(kPiece / length, 1, rows_);
  }

  template <class Visit>
  void for_pieces(const Visit& visit) const {
    if (rows_ == 0) return visit(piece_of(run_, subject_.statistics));
    for (int64_t first = 0; first < rows_; first += rows_of_piece_) {
      const int64_t last = std::min(first + rows_of_piece_, rows_);
      std::optional<codecs::Statistics> statistics = subject_.statistics;
      if (statistics) {
        statistics = codecs::statistics_of_rows(*statistics, run_.dim(), first, last);
      }
      visit(piece_of(run_.narrow(0, first, last - first), statistics));
    }
  }

 private:
  at::Tensor piece_of(const at::Tensor& rows,
                      const std::optional<codecs::Statistics>& statistics) const {
    const at::Tensor values = statistics ? codecs::normalized(rows, *statistics) : rows;
    const at::Tensor blocks =
        values
            .as_strided({values.numel() / place_.block(), place_.channels, place_.inner},
                        {place_.block(), place_.inner, 1})
            .to(at::kFloat);
    return place_.inner >= kOwnMean ? blocks.sub(blocks.mean(2, /*keepdim=*/true)) : blocks;
  }

  const at::Tensor& run_;
  const Subject& subject_;
  ops::ChannelPlace place_;
  int64_t rows_ = 0;  ///< of dimension 0; 0: all, which are no runs of blocks
  int64_t rows_of_piece_ = 1;
};

/// [k, channels], rows of length 1.
at::Tensor orthonormal(const at::Tensor& rows) {
  return std::get<0>(at::linalg_qr(rows.t())).t();
}

at::Tensor start(const SiteDirectionsPointer& before, int64_t count, int64_t channels,
                 const at::TensorOptions& options) {
  constexpr uint64_t kSeed = 0x9E3779B97F4A7C15u;
  at::Tensor rows = at::randn({count, channels}, at::detail::createCPUGenerator(kSeed),
                              at::TensorOptions(at::kFloat))
                        .to(options.device());
  if (before && before->channels == channels) {
    const at::Tensor known = before->basis.narrow(1, 0, channels).to(options);
    rows = at::cat({known, rows.narrow(0, 0, std::max<int64_t>(count - known.size(0), 0))})
               .narrow(0, 0, count);
  }
  return orthonormal(rows);
}

/// Sums over the places of a sample.
struct Projected {
  at::Tensor gram;      ///< of coefficients, [k, k]
  at::Tensor products;  ///< of coefficients with the sample, [k, channels]
  at::Tensor energy;    ///< of the sample
};

void add(at::Tensor& sum, const at::Tensor& more) {
  sum = sum.defined() ? sum.add_(more) : more;
}

Projected projected(const Sample& sample, const at::Tensor& basis) {
  Projected sums;
  sample.for_pieces([&](const at::Tensor& piece) {
    if (piece.size(2) == 1) {
      const at::Tensor places = piece.squeeze(2);
      const at::Tensor coefficients = at::mm(places, basis.t());
      add(sums.gram, at::mm(coefficients.t(), coefficients));
      add(sums.products, at::mm(coefficients.t(), places));
    } else {
      const at::Tensor coefficients = at::matmul(basis, piece);  // [outer, k, inner]
      const at::Tensor rows = coefficients.transpose(0, 1).reshape({basis.size(0), -1});
      add(sums.gram, at::mm(rows, rows.t()));
      add(sums.products, at::bmm(coefficients, piece.transpose(1, 2)).sum(0));
    }
    add(sums.energy, piece.square().sum(at::kDouble));
  });
  return sums;
}

struct Choice {
  int64_t count = 0;
  int bits = 0;
};

/// shares: of the energy, in all that come before and one more. elements: of the run.
Choice best_of(const std::vector<double>& shares, const ops::ChannelPlace& place, int64_t elements,
               const at::Tensor& basis, double most_bits) {
  constexpr int64_t kGroup = 256;
  double wanted = kWorthwhile;
  Choice best;
  for (int64_t count = 1; count <= static_cast<int64_t>(shares.size()); count *= 2) {
    const double share = shares[static_cast<size_t>(count) - 1];
    double least = wanted;
    for (int bits = 2; bits <= kMostBits; ++bits) {
      const double lost = ops::rotated_error({bits, kGroup});
      const codecs::Directions directions{basis.narrow(0, 0, count), place, bits};
      const double more = codecs::bits_of_directions(directions, elements);
      const double left = (1.0 - share + share * lost) * std::pow(4.0, more);
      if (more > most_bits || !(left < least)) continue;
      least = left;
      best = {count, bits};
    }
    wanted = (best.count == count ? least : wanted) * (best.count > 0 ? kTwiceAsMany : 1.0);
  }
  return best;
}

}  // namespace

std::optional<ops::ChannelPlace> channel_place(const at::Tensor& run, const SaveEvent& event) {
  if (run.dim() < 2 || run.numel() == 0) return std::nullopt;
  const bool is_map = has_channels(event);
  const int64_t dimension = is_map ? 1 : run.dim() - 1;
  ops::ChannelPlace place{run.size(dimension), run.stride(dimension)};
  if (!is_map && has_heads(run)) place = {run.size(1) * run.size(3), 1};
  const bool is_block = place.inner > 0 && run.numel() % place.block() == 0;
  return is_block ? std::optional(place) : std::nullopt;
}

std::optional<codecs::Directions> directions_for(const SiteDirectionsPointer& directions,
                                                 const at::Tensor& run, const Subject& subject) {
  if (!directions || directions->is_normalized != subject.statistics.has_value()) {
    return std::nullopt;
  }
  const auto place = channel_place(run, subject.event);
  if (!place || place->channels != directions->channels) return std::nullopt;
  return codecs::Directions{directions->basis.to(run.device()), *place, directions->bits};
}

SiteDirectionsPointer find_directions(const at::Tensor& run, const Subject& subject,
                                      const SiteDirectionsPointer& before,
                                      const MostDirections& most) {
  const auto place = channel_place(run, subject.event);
  if (!place || place->channels < kFewestChannels || run.scalar_type() == at::kDouble ||
      run.numel() / place->channels < kFewestPlaces) {
    return nullptr;
  }
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const Sample sample(run, subject, *place);
  const int64_t count = std::min<int64_t>(most.count, place->channels / 4);
  const bool is_known = before && before->channels == place->channels;
  at::Tensor basis = start(before, count, place->channels, run.options().dtype(at::kFloat));
  for (int i = 0; i < (is_known ? 1 : 2); ++i) {
    basis = orthonormal(projected(sample, basis).products);
  }
  const Projected last = projected(sample, basis);
  const at::Tensor gram = last.gram.to(at::kCPU, at::kDouble);
  const double energy = last.energy.item().toDouble();
  if (!(energy > 0.0) || !std::isfinite(energy) || !gram.isfinite().all().item().toBool()) {
    return nullptr;
  }
  const auto [values, vectors] = at::linalg_eigh(gram);  // ascending
  std::vector<double> shares;
  double sum = 0.0;
  for (int64_t i = count - 1; i >= 0; --i) {
    sum += std::max(values[i].item().toDouble(), 0.0) / energy;
    shares.push_back(std::min(sum, 1.0));
  }
  basis = ops::basis_of(at::mm(vectors.flip(1).t().to(basis.options()), basis));
  const Choice best = best_of(shares, *place, run.numel(), basis, most.bits);
  if (best.count == 0) return nullptr;
  return std::make_shared<SiteDirections>(SiteDirections{basis.narrow(0, 0, best.count).clone(),
                                                         place->channels, best.bits,
                                                         subject.statistics.has_value()});
}

}  // namespace fewbit::session

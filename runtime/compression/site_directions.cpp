#include "compression/site_directions.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/bmm.h>
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

at::Tensor random_rows(int64_t count, int64_t channels, const at::TensorOptions& options) {
  constexpr uint64_t kSeed = 0x9E3779B97F4A7C15u;
  const at::Tensor rows = at::randn({count, channels}, at::detail::createCPUGenerator(kSeed),
                                    at::TensorOptions(at::kFloat));
  return orthonormal(rows.to(options.device()));
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

/// Of the energy, what 1, 2, ... rows of a basis leave, which need not be orthonormal.
/// gram: of its coefficients.
std::vector<double> rests_of(const at::Tensor& gram, double energy, const at::Tensor& basis) {
  const at::Tensor sums = gram.to(at::kCPU, at::kDouble);
  const at::Tensor rows = basis.to(at::kCPU, at::kDouble);
  const at::Tensor taken = 2.0 * sums.diagonal().diag() - at::mm(rows, rows.t()) * sums;
  std::vector<double> rests;
  for (int64_t count = 1; count <= rows.size(0); ++count) {
    const double some = taken.narrow(0, 0, count).narrow(1, 0, count).sum().item().toDouble();
    rests.push_back(std::clamp(1.0 - some / energy, 0.0, 1.0));
  }
  return rests;
}

bool is_usable(const Projected& sums) {
  const double energy = sums.energy.item().toDouble();
  return energy > 0.0 && std::isfinite(energy) && sums.gram.isfinite().all().item().toBool();
}

/// The rows of which a basis is to be made that its coefficients are of the most energy first and
/// go together with none other.
at::Tensor by_energy(const at::Tensor& gram) {
  const at::Tensor vectors = std::get<1>(at::linalg_eigh(gram.to(at::kCPU, at::kDouble)));
  return vectors.flip(1).t();  // eigenvalues ascend
}

/// Of the squared error, if more bits an element took as much off it.
double error_beside_bits(const DirectionsOption& option) {
  return option.left * std::pow(4.0, option.bits);
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
                                                 const DirectionsChoice& choice,
                                                 const at::Tensor& run, const Subject& subject) {
  if (!directions || choice.count == 0 ||
      directions->is_normalized != subject.statistics.has_value()) {
    return std::nullopt;
  }
  const auto place = channel_place(run, subject.event);
  if (!place || place->channels != directions->channels) return std::nullopt;
  codecs::Directions here = chosen(*directions, choice);
  return codecs::Directions{here.basis.to(run.device()), *place, here.bits};
}

codecs::Directions chosen(const SiteDirections& directions, const DirectionsChoice& choice) {
  return {directions.basis.narrow(0, 0, choice.count), {directions.channels, 1}, choice.bits};
}

double left_of(const SiteDirections& directions, const DirectionsChoice& choice) {
  constexpr int64_t kGroup = 256;
  const double rest = directions.rests[static_cast<size_t>(choice.count) - 1];
  return rest + (1.0 - rest) * ops::rotated_error({choice.bits, kGroup});
}

std::vector<DirectionsOption> options_of(const SiteDirections& directions, int64_t elements) {
  std::vector<DirectionsOption> options;
  double wanted = kWorthwhile;
  for (int count = 1; count <= static_cast<int>(directions.rests.size()); count *= 2) {
    std::vector<DirectionsOption> some;
    for (int bits = 2; bits <= kMostBits; ++bits) {
      const DirectionsChoice choice{count, bits};
      some.push_back({choice, codecs::bits_of_directions(chosen(directions, choice), elements),
                      left_of(directions, choice)});
    }
    const double least = error_beside_bits(*std::ranges::min_element(some, {}, error_beside_bits));
    if (least < wanted) options.insert(options.end(), some.begin(), some.end());
    if (!options.empty()) wanted = std::min(wanted, least) * kTwiceAsMany;
  }
  return options;
}

DirectionsChoice best_of(const std::vector<DirectionsOption>& options) {
  if (options.empty()) return {};
  return std::ranges::min_element(options, {}, error_beside_bits)->choice;
}

SiteDirectionsPointer find_directions(const at::Tensor& run, const Subject& subject,
                                      const SiteDirectionsPointer& before, int64_t most) {
  const auto place = channel_place(run, subject.event);
  if (!place || place->channels < kFewestChannels || run.scalar_type() == at::kDouble ||
      run.numel() / place->channels < kFewestPlaces) {
    return nullptr;
  }
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const Sample sample(run, subject, *place);
  const int64_t count = std::min<int64_t>(most, place->channels / 4);
  const bool is_known = before && before->channels == place->channels &&
                        before->is_normalized == subject.statistics.has_value() &&
                        before->basis.size(0) == count;
  const at::TensorOptions options = run.options().dtype(at::kFloat);
  at::Tensor basis = is_known ? ops::directions_of(before->basis, place->channels).to(options)
                              : random_rows(count, place->channels, options);
  Projected sums = projected(sample, basis);
  if (!is_usable(sums)) return nullptr;
  std::vector<double> rests;
  if (is_known) rests = rests_of(sums.gram, sums.energy.item().toDouble(), basis);
  for (int i = 0; i < (is_known ? 1 : 2); ++i) {
    basis = orthonormal(sums.products);
    sums = projected(sample, basis);
  }
  if (!is_usable(sums)) return nullptr;
  const at::Tensor turn = by_energy(sums.gram);
  basis = at::mm(turn.to(options), basis);
  if (!is_known) {
    const at::Tensor gram = at::mm(at::mm(turn, sums.gram.to(at::kCPU, at::kDouble)), turn.t());
    rests = rests_of(gram, sums.energy.item().toDouble(), basis);
  }
  const SiteDirections found{ops::basis_of(basis), std::move(rests), place->channels,
                             subject.statistics.has_value()};
  if (options_of(found, run.numel()).empty()) return nullptr;
  return std::make_shared<SiteDirections>(found);
}

}  // namespace fewbit::session

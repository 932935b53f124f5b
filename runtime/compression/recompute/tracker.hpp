#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compression/operators/recipe.hpp"
#include "compression/operators/site_key.hpp"
#include "compression/recompute/known_classes.hpp"
#include "compression/recompute/parameter_copies.hpp"
#include "fewbit/compressor.hpp"
#include "ops/layout.hpp"
#include "trace/contents.hpp"

namespace fewbit::session {

/// A run of elements that comes back, flat, in the order of memory.
using RunPointer = std::shared_ptr<const codecs::Encoded>;

/// A tensor in a run.
struct Shown {
  RunPointer run;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = 0;

  at::Tensor tensor() const { return ops::seen_as(run->decoded(), sizes, strides, offset); }

  /// Whether rows, which are indices of dimension 0, come back at the cost of their share.
  bool has_rows() const;
  at::Tensor rows(int64_t first, int64_t last) const;
};

/// What users say of recomputation.
struct RecomputeRules {
  std::function<Recompute(std::string_view kind)> when;
  std::function<bool(const at::Tensor&)> is_of_model;  ///< frozen or not, or a view or cast
  std::function<Weight(const at::Tensor&)> weight_of;
  std::function<RunPointer(RunPointer)> held;  ///< the run, or what holds it decoded
};

/// As others take it.
Again again(const Shown& shown);

/// What can be had again of what is coded, without codes of its own: followed from operation to
/// operation through one forward.
class RecomputeTracker {
 public:
  /// A tensor that is computed again.
  struct Recomputed {
    Shown shown;
    std::string path;                     ///< "linear of norm"
    SiteKey root;                         ///< from whose codes it is computed
    bool is_asked_for = false;            ///< by name, every step of the way
    std::vector<at::Tensor> copies = {};  ///< of parameters that it is computed by
  };

  explicit RecomputeTracker(RecomputeRules rules) : rules_(std::move(rules)) {}

  /// What was coded at a site: dense elements of memory. keeps_signs: of what the operation makes
  /// of them, which runs.
  void add(const at::Tensor& run, const RunPointer& codes, const SiteKey& site, bool keeps_signs);
  /// What an operation saves as it is.
  void keep(const at::Tensor& tensor, const SaveEvent& event);
  /// An activation's codes that are stored elsewhere.
  void keep_codes(const Shown& codes, const SaveEvent& event);
  /// What it saves as a mask.
  void keep_mask(const Shown& mask, const SaveEvent& event);
  /// What it saves as indices.
  void keep_places(const Shown& places) { beside_.places = again(places); }
  void start_call(const RecordedCall& call);
  void end_call(const RecordedCall& call);

  /// How a tensor that is saved now can be had again; nothing where it cannot.
  std::optional<Recomputed> find(const at::Tensor& tensor, const SaveEvent& event) const;
  /// What is known of its elements; nothing where that is nothing.
  std::optional<codecs::Classes> classes_of(const at::Tensor& tensor) const {
    return classes_.find(tensor);
  }
  /// The codes that the running activation has saved so far, if any.
  const std::optional<Again>& codes() const { return beside_.codes; }

 private:
  /// How elements come back.
  struct Piece {
    std::weak_ptr<const codecs::Encoded> codes;  ///< held by autograd,
    RunPointer recomputed;                       ///< or by nobody else
    std::string path;                            ///< empty: codes
    SiteKey root;
    std::uint64_t age = 0;  ///< the root's, in the order of codes
    bool is_asked_for = true;
    bool has_signs = false;               ///< right ones
    int steps = 0;                        ///< from codes to here,
    int products = 0;                     ///< and matrix products among them
    std::vector<at::Tensor> copies = {};  ///< of parameters, for these steps
  };
  struct PlacedPiece {
    Contents contents;
    Piece piece;
  };
  struct Found {
    Piece piece;
    Shown shown;
  };

  std::optional<Found> piece_of(const at::Tensor& tensor) const;
  bool takes_piece(const RecordedCall& call) const;
  /// addend: what else it is computed from, if anything.
  std::optional<Piece> recomputed(const Recipe& recipe, const std::optional<Found>& from,
                                  const at::Tensor& result,
                                  const std::optional<Found>& addend = {}) const;
  void insert(const at::Tensor& run, Piece piece);
  void forget_dead();

  RecomputeRules rules_;
  ParameterCopies copies_;
  KnownClasses classes_;
  std::map<const void*, std::vector<PlacedPiece>> pieces_;  ///< by memory
  std::uint64_t added_ = 0;                                 ///< codes so far
  std::size_t inserted_ = 0;                                ///< since the dead were forgotten
  std::size_t few_ = 8;                                     ///< so many are no matter
  Beside beside_;                                           ///< what runs now
  std::optional<Found> before_;                             ///< what runs now changes it in place
  std::weak_ptr<const codecs::Encoded> signed_;  ///< codes with the right signs for what runs now
};

}  // namespace fewbit::session

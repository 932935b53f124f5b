#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compression/coder.hpp"
#include "compression/measurement.hpp"
#include "compression/operators/save_policy.hpp"
#include "compression/operators/site_key.hpp"
#include "compression/save_decision.hpp"
#include "compression/site_directions.hpp"
#include "compression/user_rules.hpp"
#include "fewbit/compressor.hpp"
#include "fewbit/table.hpp"

namespace fewbit::session {

/// What is known of a site.
struct SiteState {
  Compressor::Site site;
  int64_t most_elements = 0;  ///< that it has had
  double other_bits = 0.0;    ///< in addition to those of the budget, the most for so many elements
  SavePolicy save_policy;
  std::optional<int> fixed;             ///< bits by a rule or plan
  int bits = 0;                         ///< of the next tensor
  int coded_bits = 0;                   ///< of the latest
  CodecKind kind = CodecKind::rotated;  ///< with the lower error
  std::vector<double> errors;           ///< of 1, 2, ... bits; of a cast all are the same
  SiteDirectionsPointer directions;     ///< of its tensors; null: none worth a pass
  DirectionsChoice directions_choice;   ///< of the next tensor
  DirectionsChoice coded_choice;        ///< of the latest
  double error_of_rest = 0.0;           ///< over expected ones times what is left; 0: not known
  double median_share = 0.0;            ///< of groups, their median error over that of all
  double energy_share = 1.0;            ///< of log_softmax's probabilities: of its gradient's
  double sensitivity = 0.0;             ///< when last noted; 0: never
  std::optional<SiteKey> root;          ///< of whose codes it could come
  double ratio = 0.0;                   ///< its error then over the root's
  double floor = 0.0;                   ///< its error with most bits at the root so far,
  int floor_bits = 0;                   ///< which were so many
  bool is_recomputed = false;           ///< that is how it is stored
  bool is_asked_for = false;            ///< whatever its error
  std::string recompute_path;           ///< the latest
};

/// How a tensor was stored.
struct StoredTensor {
  StoredAs stored;
  int64_t elements = 0;
  int64_t bytes_before = 0;
  int64_t bytes_after = 0;
  int64_t bytes_offloaded = 0;
  bool is_asked_for = false;  ///< so recomputed whatever its error
};

/// One more tensor that is stored at a site.
struct SiteNote {
  SiteKey site;
  std::string module = {};
  SavePolicy save_policy = {};
  std::optional<int> given_bits = {};  ///< by a rule or plan
  int bits = 0;                        ///< of an element, where it takes such of the budget
  CodecKind kind = CodecKind::rotated;
  DirectionsChoice directions_choice = {};
  StoredTensor latest = {};
};

/// What a tensor tells of the directions of later ones.
struct FoundDirections {
  SiteDirectionsPointer directions;
  double error_of_rest;  ///< as SiteState has it
};

/// Of a site with known errors, of 1, 2, ... bits, by the chosen directions.
std::vector<double> errors_of(const SiteState& state, const DirectionsChoice& choice,
                              const Coder& coder);

/// The sites of a model and what is known of each. Not thread-safe.
class SiteTable {
 public:
  explicit SiteTable(const Coder& coder) : coder_(coder) {}

  std::vector<SiteState>& all() { return states_; }
  const std::vector<SiteState>& all() const { return states_; }
  SiteState* find(const SiteKey& site);
  const SiteState* find(const SiteKey& site) const;
  /// -1: it is none.
  int64_t number_of(const SiteKey& site) const;
  /// Puts others in their place.
  void replace(std::vector<SiteState> states);

  // What forwards tell of sites. Of unknown ones, since others were loaded meanwhile: nothing.
  void note(const SiteNote& note);
  /// The latest there is stored in another way than was noted, in so many bytes.
  void note_kept(const SiteKey& site, StoredAs stored, int64_t bytes, int64_t offloaded = 0);
  /// By which the latest activation there saved its codes. is_given: its bits are.
  void note_table(const SiteKey& site, const Table& table, bool is_given);
  void note_errors(const SiteKey& site, const Measured& measured);
  /// Of a tensor there, for later ones.
  void note_directions(const SiteKey& site, const FoundDirections& found);
  void move_directions(const SiteKey& site, c10::Device device);
  /// Of what it would be, or is, recomputed from the codes of `root`, over its energy.
  void note_recomputed_error(const SiteKey& site, double error, const SiteKey& root);
  /// The variance that a squared error as large as the tensor's energy would add to the gradients
  /// of the model, an element of the tensor.
  void note_sensitivity(const SiteKey& site, double sensitivity);
  /// Another operation saves what the site coded: from the next forward on in the bits that the one
  /// with the greater need would have.
  void raise(const SiteKey& site, double weight, std::optional<int> given_bits);
  /// An operation saves so many bytes more as they are.
  void note_left(const std::string& operation, const std::string& reason, int64_t bytes);

  /// In the latest forward.
  std::vector<Compressor::LeftAlone> left_alone = {};
  /// What bits are split by, since they were.
  bool has_changed = false;

 private:
  void start(SiteState& state, const SiteNote& note);
  void claim(SiteState& state, double weight, std::optional<int> given_bits);

  const Coder& coder_;
  std::unordered_map<SiteKey, size_t, SiteHash> numbers_;
  std::vector<SiteState> states_;
};

/// What a forward tells once it has ended.
using SiteChange = std::function<void(SiteTable&)>;

/// What one forward has to tell of its sites, in that order, until it has ended. So its saved
/// tensors wait for other threads' once each, when it is decided how they are stored. Used by the
/// thread that made it.
class SiteNotes {
 public:
  SiteNotes(const Coder& coder, std::shared_ptr<const UserRules> rules)
      : coder_(coder), rules_(std::move(rules)) {}

  /// A tensor is saved there now, and stored at some time.
  void saves(const SiteKey& site, const SaveEvent& event);
  /// One more tensor is stored there, beside its directions where these are the subject's and
  /// chosen.
  void stored(const SiteKey& site, const Subject& subject, const SaveDecision& decision,
              StoredTensor latest);
  /// The latest there is stored in another way than was noted.
  void stored_otherwise(const SiteKey& site, StoredAs stored, int64_t bytes, int64_t offloaded = 0);
  /// What was coded there is held as it is, since others hold its memory anyway.
  void shared(const SiteKey& site);
  /// By which the latest activation there saved its codes. is_given: its bits are.
  void table(const SiteKey& site, const Table& table, bool is_given);
  void errors(const SiteKey& site, const Measured& measured);
  void directions(const SiteKey& site, const FoundDirections& found);
  /// Tensors there are on the device, the directions as they were loaded.
  void move_directions(const SiteKey& site, c10::Device device);
  void recomputed_error(const SiteKey& site, double error, const SiteKey& root);
  /// Another operation saves what was coded there.
  void raise(const SiteKey& site, const SaveDecision& decision);
  /// An operation saves so many bytes more as they are.
  void left(const std::string& operation, const std::string& reason, int64_t bytes);

  bool is_of_this_thread() const { return thread_ == std::this_thread::get_id(); }
  /// All of that, once.
  std::vector<SiteChange> taken() { return std::exchange(changes_, {}); }

 private:
  const Coder& coder_;
  std::shared_ptr<const UserRules> rules_;
  std::thread::id thread_ = std::this_thread::get_id();
  std::unordered_map<SiteKey, std::string, SiteHash> running_;  ///< modules, as tensors were saved
  std::vector<SiteChange> changes_;
};

/// How a tensor is stored: by the codec, by an activation's table of so many bits, or as it is.
StoredAs stored_by(StorageKind storage, const codecs::Codec& codec, int table_bits);
StoredAs stored_by_table(int bits);
StoredAs stored_exactly(ExactReason reason = ExactReason::requested);
/// How the latest tensor of a site was, where nobody has said so.
StoredAs stored_at(const SiteState& state, const Coder& coder);

}  // namespace fewbit::session

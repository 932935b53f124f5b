#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "codecs/codec.hpp"
#include "compression/allocation/budget.hpp"
#include "compression/coder.hpp"
#include "compression/decoded_cache.hpp"
#include "compression/operators/saved.hpp"
#include "compression/operators/site_key.hpp"
#include "fewbit/compressor.hpp"
#include "fewbit/memory_plan.hpp"
#include "fewbit/table.hpp"
#include "offload/host_offload.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

struct ActivationCall;
class SaveObserver;

/// How a saved tensor is stored, and why: by one look at the rules, the plan and its site.
struct SaveDecision : SavePolicy {
  bool has_rule = false;
  std::optional<int> rule_bits = {};    ///< by that rule
  std::optional<Storage> planned = {};  ///< by a plan, whatever rules and errors say
  bool is_due = false;                  ///< errors are to be measured on it
  bool is_better_recomputed = false;    ///< as far as errors tell
  bool is_observed = false;             ///< so nothing waits
  bool may_normalize = true;            ///< by statistics, where there are such

  /// Whether it comes of others' codes, where it can.
  bool recomputes(bool is_asked_for) const {
    return planned ? *planned == Storage::recomputed : is_asked_for || is_better_recomputed;
  }
};

/// What a Compressor knows: rules, sites of the model, bits for each. Thread-safe.
class Compression {
 public:
  using SiteKey = session::SiteKey;

  explicit Compression(const CompressorOptions& options);

  const CompressorOptions& options() const { return coder_.options(); }

  /// For what fits.
  void set_rule(const std::string& pattern, Bits bits);
  /// A cast, offloaded, or exact: left alone.
  void set_rule(const std::string& pattern, StorageKind storage);
  void name(const std::string& name, const at::Tensor& parameter);
  /// Whether it is one of those, frozen or not, or a view of one.
  bool knows(const at::Tensor& tensor) const;
  void set_recompute(const std::string& name, Recompute when);
  Recompute when_to_recompute(std::string_view name) const;

  bool codes_anything() const { return coder_.codes({}); }
  /// Where what leaves in one forward goes; null: nothing does.
  std::shared_ptr<offload::HostOffload> new_offload() const;
  /// Whether what is kept so leaves.
  bool offloads(const SavePolicy& save_policy) const {
    return coder_.offloads() || save_policy.storage == StorageKind::offloaded;
  }
  /// The run, or what holds it between its uses in a backward pass if the options say so.
  std::shared_ptr<const codecs::Encoded> held(std::shared_ptr<const codecs::Encoded> run) const;
  /// How a tensor is kept that is saved at a site, but for its size.
  SaveDecision decide(const SiteKey& site, const at::Tensor& tensor, const SaveEvent& event) const;
  /// Whether a rule says so of the operation.
  bool leaves_alone(std::string_view operation) const;

  // compression_activations.cpp.

  /// Of the codes of an activation.
  struct ActivationBits {
    int count = 0;
    bool is_given = false;  ///< by a rule, an option or a plan
    bool is_exact = false;  ///< by a plan: none
    std::optional<StorageKind> storage =
        {};  ///< by a rule: none, and what libtorch's own keeps is kept so
  };
  /// For a call of libtorch's `operation` at a site; nothing: it runs as libtorch's own. Throws
  /// c10::Error where the function has no table.
  std::optional<ActivationBits> activation_bits(const ActivationCall& call,
                                                std::string_view operation, const at::Tensor& x,
                                                const SiteKey& site) const;
  /// By which the latest activation there kept its codes.
  void note_table(const SiteKey& key, const Table& table, bool is_given);
  /// Of an activation's derivative.
  static StoredAs table(int bits) {
    return {.codec = "few-bit table", .bits = static_cast<double>(bits)};
  }

  /// Whether what is known of elements helps to keep them.
  bool codes_by_class(const SavePolicy& save_policy) const {
    return options().scheme == Scheme::rotated && save_policy.takes_bits();
  }

  // compression_assignment.cpp.

  /// How a site is kept, whatever rules and errors say, and its bits where it is coded in such.
  struct Assignment {
    Storage storage = Storage::coded;
    int bits = 0;
  };
  void assign(const SiteKey& key, Assignment assignment);
  /// Tells it what is saved from now on, and measures no errors meanwhile; null: ends that.
  void observe_with(std::shared_ptr<SaveObserver> observer);
  std::shared_ptr<SaveObserver> observer() const;
  /// Sites, with the bits of an element where it is coded in such, and the site of whose codes it
  /// comes where it does.
  struct SiteFacts {
    Compressor::Site site;
    int bits = 0;
    std::optional<SiteKey> root;
  };
  std::vector<SiteFacts> site_facts() const;

  /// What is kept of one tensor.
  struct Latest {
    StoredAs stored;
    int64_t elements;
    int64_t bytes_before;
    int64_t bytes_after = 0;
    int64_t bytes_offloaded = 0;
    bool is_asked_for = false;  ///< so recomputed whatever it errs
  };

  /// What a codec of that name made of a run.
  struct CodedRun {
    std::string codec;
    const codecs::Encoded& run;
  };

  /// What codes the next tensor there.
  codecs::CodecPointer codec_at(const SiteKey& key, const Subject& subject,
                                const SaveDecision& decision);
  /// One more was coded there, or recomputed.
  void note(const SiteKey& key, const Subject& subject, const SaveDecision& decision,
            const Latest& latest);
  /// An operation keeps so many bytes more as they are.
  void note_left(const std::string& operation, const std::string& reason, int64_t bytes);
  std::vector<Compressor::LeftAlone> left_alone() const;
  /// What was coded there is held as it is, since others hold its memory anyway.
  void note_shared(const SiteKey& key) { note_kept(key, exact(ExactReason::shared), 0); }
  /// The latest there is stored in another way than was noted, in so many bytes.
  void note_kept(const SiteKey& key, StoredAs stored, int64_t bytes, int64_t offloaded = 0);
  static StoredAs exact(ExactReason reason = ExactReason::requested) {
    return {.storage = Storage::exact, .reason = reason};
  }
  static StoredAs coded(const codecs::Codec& codec) {
    return {.codec = codec.name(), .bits = codec.bits()};
  }
  /// Measures errors there, of the tensor that came last: `coded`, unless it was recomputed.
  void measure(const SiteKey& key, const Subject& subject, const SavePolicy& save_policy,
               const at::Tensor& run, const std::optional<CodedRun>& coded,
               const codecs::RandomStream& random);
  /// The same of what it would be, or is, if it came of the codes of `root`.
  void measure_recomputed(const SiteKey& key, const SavePolicy& save_policy, const at::Tensor& run,
                          const at::Tensor& recomputed, const SiteKey& root);
  /// Whether gradients of what operations give are to be noted.
  bool follows_gradients() const { return coder_.follows_gradients(); }
  /// What an error there does to the gradients of the model: the variance that a squared error as
  /// large as the tensor's energy would add, an element of the tensor.
  void note_sensitivity(const SiteKey& key, double sensitivity);
  /// Another operation keeps what that site coded: from the next forward on in the bits that the
  /// one with the greater need would have.
  void raise(const SiteKey& key, const SaveDecision& decision);
  /// What went wrong as a forward ended, for the next one that begins to throw.
  void keep_failure(std::exception_ptr failure) noexcept;
  /// A forward begins: the seed of its random numbers, a function of the seed of torch's default
  /// generator and of how many forwards there were, which draws nothing from that generator.
  int64_t begin_forward();
  /// A forward is over: bits are split anew if errors were measured.
  void end_forward();

  std::vector<Compressor::Site> sites() const;
  /// How far the weighed errors of the bits as they are split are at most above the least there can
  /// be, relative to these. None where nothing is.
  std::optional<double> split_gap() const;

  /// compression_file.cpp.
  void save(const std::string& path) const;
  void load(const std::string& path);

 private:
  struct SiteState {
    Compressor::Site site;
    int64_t most_elements = 0;  ///< that it has had
    double other_bits = 0.0;    ///< beside those of the budget, the most for so many elements
    SavePolicy save_policy;
    std::optional<int> fixed;             ///< bits by a rule
    int bits = 0;                         ///< of the next tensor
    int coded_bits = 0;                   ///< of the latest
    CodecKind kind = CodecKind::rotated;  ///< that errs less
    std::vector<double> errors;           ///< of 1, 2, ... bits; of a cast all are the same
    double median_share = 0.0;            ///< of groups, their median error over that of all
    double sensitivity = 0.0;             ///< when last noted; 0: never
    std::optional<SiteKey> root;          ///< of whose codes it could come
    double ratio = 0.0;                   ///< its error then over the root's
    double floor = 0.0;                   ///< its error with most bits at the root so far,
    int floor_bits = 0;                   ///< which were so many
    bool is_recomputed = false;           ///< that is how it is kept
    bool is_asked_for = false;            ///< whatever it errs
    std::string recompute_path;           ///< the latest
  };
  /// The site whose codes a recomputed one comes of in the end, and its error over that one's.
  struct Origin {
    size_t root;
    double ratio;
    double floor;    ///< what no fewer bits at the root fall below than
    int floor_bits;  ///< so many
  };
  struct Rule {
    std::string pattern;
    std::optional<int> bits;
    std::optional<StorageKind> storage;  ///< where there are no bits
    bool leaves_alone() const { return storage == StorageKind::exact; }
  };
  struct Parameter {
    Memory memory;  ///< so that its address means it
    std::string name;
  };

  // compression_derivation.cpp.
  std::optional<Origin> origin_of(const SiteState& state) const;
  static double recomputed_error(const Origin& origin, const SiteState& root, double bits);
  bool is_better_recomputed(const SiteState& state) const;
  void choose_derived();
  static bool takes_budget(const SiteState& state);
  double weight_of(const SiteState& state, double typical) const;
  double typical_sensitivity() const;
  std::vector<Demand> demands() const;
  double constant_bits(const SiteState& state) const;
  int64_t elements_of(const SiteState& state) const;
  void note_other_bits(SiteState& state);
  double average_bits(const std::vector<Demand>& demands, double activation_bytes) const;

  // compression_activations.cpp.
  std::string module_around(const std::vector<const void*>& parameters) const;
  static bool follows_bits(const SiteState& state);
  int bits_beside(const SiteState& state, double average) const;
  double activation_bytes(double average) const;
  /// Bits of an element, as activations are to go with and as there are for others.
  struct Averages {
    double of_activations;
    double of_others;
  };
  Averages averages(const std::vector<Demand>& demands) const;

  std::optional<Assignment> assignment_of(const SiteKey& key) const;
  std::optional<int> given_bits(const SiteKey& key, const SaveDecision& decision) const;

  void add(Rule rule);
  static void apply(const Rule& rule, const at::Tensor& tensor, const SaveEvent& event,
                    SaveDecision& decision);
  std::string text() const;
  void read(const std::string& text);
  StoredAs stored_at(const SiteState& state) const;
  static bool measures(int64_t count);
  /// The latest that fits one of these names, or the name of one of the parameters.
  const Rule* rule_of(std::span<const std::string_view> names,
                      std::span<const void* const> parameters) const;
  void start(SiteState& state, const Subject& subject, const SaveDecision& decision);
  void claim(SiteState& state, const SaveDecision& decision);
  std::string module_of(const std::vector<const void*>& parameters) const;
  int first_bits(const SiteKey& key, const SaveDecision& decision) const;
  struct Measured {
    CodecKind kind;
    double error;
    double median_error;
  };
  static double error_in(const Subject& subject, const SavePolicy& save_policy,
                         const at::Tensor& run, const at::Tensor& decoded);
  Measured least_error(const Subject& subject, const SavePolicy& save_policy, int bits,
                       const at::Tensor& run, const codecs::RandomStream& random,
                       const std::optional<CodedRun>& coded) const;

  Coder coder_;
  std::shared_ptr<DecodedCache> held_;       ///< null: nothing is held
  std::shared_ptr<offload::Stores> stores_;  ///< null: nothing leaves
  mutable std::mutex mutex_;
  std::vector<Rule> rules_;  ///< in the order of making
  std::map<std::string, Recompute, std::less<>> tracker_;
  std::map<const void*, Parameter> parameters_;
  std::map<SiteKey, Assignment> assignments_;
  std::shared_ptr<SaveObserver> observer_;
  std::atomic<bool> is_observed_ = false;
  std::vector<Compressor::LeftAlone> left_alone_;  ///< in the latest forward
  std::map<SiteKey, size_t> numbers_;
  std::vector<SiteState> states_;
  bool has_changed_ = false;  ///< what bits are split by
  std::exception_ptr failure_;
  uint64_t forwards_ = 0;  ///< begun so far
};

}  // namespace fewbit::session

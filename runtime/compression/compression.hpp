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
#include "compression/held_runs.hpp"
#include "compression/rules.hpp"
#include "compression/site_key.hpp"
#include "fewbit/compressor.hpp"
#include "fewbit/memory_plan.hpp"
#include "fewbit/table.hpp"
#include "swap/host_swap.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

struct ActivationCall;
class SaveObserver;

/// The operation that keeps an activation's codes.
inline constexpr std::string_view kActivation = "fewbit::activation";

/// How a saved tensor is stored, and why: by one look at the rules, the plan and its site.
struct SaveDecision : Treatment {
  bool has_rule = false;
  std::optional<int> rule_bits = {};  ///< by that rule
  std::optional<Keep> planned = {};   ///< by a plan, whatever rules and errors say
  bool is_due = false;                ///< errors are to be measured on it
  bool is_better_derived = false;     ///< as far as errors tell
  bool is_observed = false;           ///< so nothing waits
  bool may_normalize = true;          ///< by statistics, where there are such

  /// Whether it comes of others' codes, where it can.
  bool derives(bool is_asked_for) const {
    return planned ? *planned == Keep::rebuilt : is_asked_for || is_better_derived;
  }
};

/// What a Compressor knows: rules, places of the model, bits for each. Thread-safe.
class Compression {
 public:
  using SiteKey = session::SiteKey;

  explicit Compression(const CompressorOptions& options);

  const CompressorOptions& options() const { return coder_.options(); }

  /// For what fits.
  void set_rule(const std::string& pattern, Bits bits);
  /// A cast, away, or exact: left alone.
  void set_rule(const std::string& pattern, Way way);
  void name(const std::string& name, const at::Tensor& parameter);
  /// Whether it is one of those, frozen or not, or a view of one.
  bool knows(const at::Tensor& tensor) const;
  void set_derivation(const std::string& name, Derive when);
  Derive derivation(std::string_view name) const;

  bool codes_anything() const { return coder_.codes({}); }
  /// Where what leaves in one forward goes; null: nothing does.
  std::shared_ptr<swap::HostSwap> new_swap() const;
  /// Whether what is kept so leaves.
  bool swaps(const Treatment& treatment) const {
    return coder_.swaps() || treatment.way == Way::away;
  }
  /// The run, or what holds it between its uses in a backward pass if the options say so.
  std::shared_ptr<const codecs::Encoded> held(std::shared_ptr<const codecs::Encoded> run) const;
  /// How a tensor is kept that is saved at a site, but for its size.
  SaveDecision decide(const SiteKey& site, const at::Tensor& tensor, const Saving& saving) const;
  /// Whether a rule says so of the operation.
  bool leaves_alone(std::string_view operation) const;

  // compression_activations.cpp.

  /// Of the codes of an activation.
  struct ActivationBits {
    int count = 0;
    bool is_given = false;        ///< by a rule, an option or a plan
    bool is_exact = false;        ///< by a plan: none
    std::optional<Way> way = {};  ///< by a rule: none, and what libtorch's own keeps is kept so
  };
  /// For a call of libtorch's `operation` at a site; nothing: it runs as libtorch's own. Throws
  /// c10::Error where the function has no table.
  std::optional<ActivationBits> activation_bits(const ActivationCall& call,
                                                std::string_view operation, const at::Tensor& x,
                                                const SiteKey& site) const;
  /// By which the latest activation there kept its codes.
  void note_table(const SiteKey& key, const Table& table, bool is_given);
  /// What a site says of such codes.
  static constexpr std::string_view kTable = "few-bit table";

  /// Whether what is known of elements helps to keep them.
  bool codes_by_class(const Treatment& treatment) const {
    return options().scheme == Scheme::rotated && treatment.takes_bits();
  }

  // compression_assignment.cpp.

  /// How a place is kept, whatever rules and errors say, and its bits where it is coded in such.
  struct Assignment {
    Keep keep = Keep::coded;
    int bits = 0;
  };
  void assign(const SiteKey& key, Assignment assignment);
  /// Tells it what is saved from now on, and measures no errors meanwhile; null: ends that.
  void observe_with(std::shared_ptr<SaveObserver> observer);
  std::shared_ptr<SaveObserver> observer() const;
  /// Sites, with the bits of an element where it is coded in such, and the place of whose codes it
  /// comes where it does.
  struct PlaceFacts {
    Compressor::Site site;
    int bits = 0;
    std::optional<SiteKey> root;
  };
  std::vector<PlaceFacts> places() const;

  /// What is kept of one tensor.
  struct Latest {
    std::string codec;
    int64_t elements;
    int64_t bytes_before;
    int64_t bytes_after = 0;
    int64_t bytes_away = 0;
    std::string derivation = {};  ///< "linear of norm"; empty: coded
    bool is_asked_for = false;    ///< so derived whatever it errs
  };

  /// What a codec of that name made of a run.
  struct CodedRun {
    std::string codec;
    const codecs::Encoded& run;
  };

  /// What codes the next tensor there.
  codecs::CodecPointer codec_at(const SiteKey& key, const Subject& subject,
                                const SaveDecision& decision);
  /// One more was coded there, or derived.
  void note(const SiteKey& key, const Subject& subject, const SaveDecision& decision,
            const Latest& latest);
  /// An operation keeps so many bytes more as they are.
  void note_left(const std::string& operation, const std::string& reason, int64_t bytes);
  std::vector<Compressor::LeftAlone> left_alone() const;
  /// What was coded there is held as it is, since others hold its memory anyway.
  void note_kept_anyway(const SiteKey& key) { note_kept(key, std::string(kKeptAnyway), 0); }
  /// The latest there is kept in another way than was noted, in so many bytes.
  void note_kept(const SiteKey& key, std::string codec, int64_t bytes, int64_t away = 0);
  static constexpr std::string_view kKeptAnyway = "exact, kept anyway";
  /// What a site says of what it keeps as it is since a logarithm, a root or a quotient follows.
  static constexpr std::string_view kDivided = "exact, divided by";
  /// The same where nobody took the result before the scope ended: a loss outside of it may divide.
  static constexpr std::string_view kResult = "exact, of a result";
  /// Measures errors there, of the tensor that came last: `coded`, unless it was derived.
  void measure(const SiteKey& key, const Subject& subject, const Treatment& treatment,
               const at::Tensor& run, const std::optional<CodedRun>& coded,
               const codecs::RandomStream& random);
  /// The same of what it would be, or is, if it came of the codes of `root`.
  void measure_derived(const SiteKey& key, const Treatment& treatment, const at::Tensor& run,
                       const at::Tensor& derived, const SiteKey& root);
  /// Whether gradients of what operations give are to be noted.
  bool follows_gradients() const { return coder_.follows_gradients(); }
  /// What an error there does to the gradients of the model: the variance that a squared error as
  /// large as the tensor's energy would add, an element of the tensor.
  void note_sensitivity(const SiteKey& key, double sensitivity);
  /// Another operation keeps what that place coded: from the next forward on in the bits that the
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
  struct Place {
    Compressor::Site site;
    int64_t most_elements = 0;  ///< that it has had
    double other_bits = 0.0;    ///< beside those of the budget, the most for so many elements
    Treatment treatment;
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
    bool is_derived = false;              ///< that is how it is kept
    bool is_asked_for = false;            ///< whatever it errs
    std::string derivation;               ///< the latest
  };
  /// The place whose codes a derived one comes of in the end, and its error over that one's.
  struct Origin {
    size_t root;
    double ratio;
    double floor;    ///< what no fewer bits at the root fall below than
    int floor_bits;  ///< so many
  };
  struct Rule {
    std::string pattern;
    std::optional<int> bits;
    std::optional<Way> way;  ///< where there are no bits
    bool leaves_alone() const { return way == Way::exact; }
  };
  struct Parameter {
    Memory memory;  ///< so that its address means it
    std::string name;
  };

  // compression_derivation.cpp.
  std::optional<Origin> origin_of(const Place& place) const;
  static double derived_error(const Origin& origin, const Place& root, double bits);
  bool is_better_derived(const Place& place) const;
  void choose_derived();
  static bool takes_budget(const Place& place);
  double weight_of(const Place& place, double typical) const;
  double typical_sensitivity() const;
  std::vector<Demand> demands() const;
  double constant_bits(const Place& place) const;
  int64_t elements_of(const Place& place) const;
  void note_other_bits(Place& place);
  double average_bits(const std::vector<Demand>& demands, double activation_bytes) const;

  // compression_activations.cpp.
  std::string module_around(const std::vector<const void*>& parameters) const;
  static bool follows_bits(const Place& place);
  int bits_beside(const Place& place, double average) const;
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
  static void apply(const Rule& rule, const at::Tensor& tensor, const Saving& saving,
                    SaveDecision& decision);
  std::string text() const;
  void read(const std::string& text);
  std::string name_at(const Place& place) const;
  static bool measures(int64_t count);
  /// The latest that fits one of these names, or the name of one of the parameters.
  const Rule* rule_of(std::span<const std::string_view> names,
                      std::span<const void* const> parameters) const;
  void start(Place& place, const Subject& subject, const SaveDecision& decision);
  void claim(Place& place, const SaveDecision& decision);
  std::string module_of(const std::vector<const void*>& parameters) const;
  int first_bits(const SiteKey& key, const SaveDecision& decision) const;
  struct Measured {
    CodecKind kind;
    double error;
    double median_error;
  };
  static double error_in(const Subject& subject, const Treatment& treatment, const at::Tensor& run,
                         const at::Tensor& decoded);
  Measured least_error(const Subject& subject, const Treatment& treatment, int bits,
                       const at::Tensor& run, const codecs::RandomStream& random,
                       const std::optional<CodedRun>& coded) const;

  Coder coder_;
  std::shared_ptr<HeldRuns> held_;        ///< null: nothing is held
  std::shared_ptr<swap::Stores> stores_;  ///< null: nothing leaves
  mutable std::mutex mutex_;
  std::vector<Rule> rules_;  ///< in the order of making
  std::map<std::string, Derive, std::less<>> derivations_;
  std::map<const void*, Parameter> parameters_;
  std::map<SiteKey, Assignment> assignments_;
  std::shared_ptr<SaveObserver> observer_;
  std::atomic<bool> is_observed_ = false;
  std::vector<Compressor::LeftAlone> left_alone_;  ///< in the latest forward
  std::map<SiteKey, size_t> numbers_;
  std::vector<Place> places_;
  bool has_changed_ = false;  ///< what bits are split by
  std::exception_ptr failure_;
  uint64_t forwards_ = 0;  ///< begun so far
};

}  // namespace fewbit::session

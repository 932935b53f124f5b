#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <c10/core/Stream.h>

#include "codecs/small_runs.hpp"
#include "compression/allocation/sensitivities.hpp"
#include "compression/coded.hpp"
#include "compression/codes_or_input.hpp"
#include "compression/compression.hpp"
#include "compression/consumers.hpp"
#include "compression/memory_uses.hpp"
#include "compression/recompute/parameter_casts.hpp"
#include "compression/recompute/tracker.hpp"
#include "compression/shared_copies.hpp"
#include "compression/stored_run.hpp"
#include "fewbit/table.hpp"
#include "ops/next_seed.hpp"
#include "trace/saved_tensors.hpp"

namespace fewbit::session {

/// Codes what is saved in one forward, while its scope is open.
class CompressionUser final : public SavedTensorUser {
 public:
  explicit CompressionUser(std::shared_ptr<Compression> compression);
  /// All that was saved is coded, and bits are split for the next forward.
  void end_forward() noexcept;

  std::unique_ptr<const PackedTensor> replace(const at::Tensor& tensor,
                                              const SaveEvent& event) override;
  void pass_over() override;
  bool hears_of_parts() const override { return false; }
  Keeping keep(const SaveEvent& event) override;
  bool holds(std::string_view operation) const override {
    if (waiting_ || !consumers_.is_empty()) return true;
    const Concern& concern = concern_of(operation);
    return concern.is_so || (concern.is_in_place && !small_.is_empty());
  }
  void start_call(const RecordedCall& call) override;
  void end_call(const RecordedCall& call) override;

  /// The site of the next activation of the thread.
  SiteKey next_activation();
  /// It saves codes by that table. is_given: its bits are a rule's, an option's or a plan's.
  void expect_activation(const Table& table, bool is_given, const at::Tensor& x);
  /// Whether the activation of x had better hand over its codes before its result takes memory: a
  /// large input of a norm is held until then.
  bool waits_for_codes_of(const at::Tensor& x) const;
  /// Whether somebody holds the tensor's memory as it is.
  bool is_kept_exactly(const at::Tensor& tensor) const { return uses_.is_exact(tensor); }
  /// It runs as libtorch's own, and what that saves is stored so.
  void keep_next_activation(StorageKind storage);
  /// The same, exactly. What it saves is the site's.
  void keep_next_activation_exact();

 private:
  /// The memory that a run of elements was coded from, as it was.
  struct RunKey {
    const void* memory;
    int64_t version;
    int64_t offset;
    at::ScalarType type;
    int64_t count;
    StorageKind storage;         ///< what serves one purpose need not serve another
    std::vector<int64_t> sizes;  ///< where the run is not all of the memory between its ends
    std::vector<int64_t> strides;
    auto operator<=>(const RunKey&) const = default;
  };
  struct Run {
    /// So that the address means this memory.
    Memory::Owner memory = Memory::Owner::reclaim(nullptr);
    std::weak_ptr<const codecs::Encoded> encoded;
    std::weak_ptr<StoredRun> stored;  ///< the same, where it is not recomputed
    SiteKey site;
    uint64_t sample = 0;         ///< of the contents
    bool is_recomputed = false;  ///< of other codes
    bool is_exact = false;       ///< by an assignment
  };

  /// A tensor that is saved, but for dimensions that are expanded; where it is saved.
  struct Saved {
    const at::Tensor& tensor;
    const at::Tensor& view;
    const SaveEvent& event;
    SaveDecision decision;
    SiteKey site;
  };

  /// Measures errors of what was stored last: `coded`, unless it was recomputed. Returns what codes
  /// it in the fewest errors, where it is to be coded in bits.
  codecs::CodecPointer measure(const SiteKey& site, const Subject& subject,
                               const SaveDecision& decision, const at::Tensor& run,
                               const std::optional<CodedRun>& coded,
                               const codecs::RandomStream& random);

  static RunKey key_of(const Saved& saved);
  SiteKey site_of(const SaveEvent& event) const;
  struct EncodedRun {
    RunPointer codes;
    bool keeps_signs = false;
  };
  /// What concerns this of calls of an operation, which every call asks: by where its name lies, as
  /// it does for good in libtorch's schemas.
  struct Concern {
    const char* place = nullptr;
    std::string operation = {};
    bool is_so = false;  ///< they are followed whatever waits
    bool saves_late = false;
    bool is_in_place = false;
  };
  const Concern& concern_of(std::string_view operation) const;
  bool concerns(std::string_view operation) const { return concern_of(operation).is_so; }
  void settle_small_before(const RecordedCall& call);
  void note_cast(const RecordedCall& call);
  Subject subject_of(const at::Tensor& run, const Saved& saved) const;
  EncodedRun encode(const at::Tensor& run, const Saved& saved, Subject subject);
  void find_directions(const SiteKey& site, const Subject& subject, const SaveDecision& decision,
                       const at::Tensor& run, const Measured& measured);
  std::unique_ptr<const PackedTensor> recompute(const Saved& saved,
                                                const RecomputeTracker::Recomputed& recomputed,
                                                Run& known);
  std::unique_ptr<const PackedTensor> code(const Saved& saved, Run& known);
  /// What stands for a run from now on, for whoever else saves the same.
  RunPointer remember(const Saved& saved, const at::Tensor& run, uint64_t sample,
                      const std::shared_ptr<StoredRun>& stored, Run& known, bool keeps_signs);
  void keep_exact_if_less(const Saved& saved);
  /// event: whose tensor it is, where backward may read it in pieces.
  std::unique_ptr<const PackedTensor> coded(const Shown& shown, const at::Tensor& tensor,
                                            const at::Tensor& view,
                                            const SaveEvent* event = nullptr) const;
  void note_recomputed(const Saved& saved, const RecomputeTracker::Recomputed& recomputed);
  std::unique_ptr<const PackedTensor> keep_codes(const Saved& saved, Run& known);
  void note_activation(const Saved& saved);
  std::unique_ptr<const PackedTensor> kept(const at::Tensor& tensor, const SaveEvent& event);
  std::unique_ptr<const PackedTensor> kept_elements(Saved& saved, Run& known);
  std::unique_ptr<const PackedTensor> kept_recomputed(const Saved& saved, Run& known);
  void leave_own_activation(const at::Tensor& tensor, const SaveEvent& event,
                            const SaveDecision& decision);
  /// What the next activation was to save has gone to another user.
  void expect_nothing();
  /// As it is, for whoever else saves the same; noted.
  void leave(const Saved& saved, Run& known);
  std::unique_ptr<const PackedTensor> keep_small(const Saved& saved);
  void note_shared(const Saved& saved);
  /// The tensor is saved as it is, or its runs are held so.
  void keep_exact(const at::Tensor& tensor, const SaveEvent& event);
  int64_t bytes_of_new(const std::vector<at::Tensor>& copies);
  void measure_recomputed(const Saved& saved, const at::Tensor& run,
                          const RecomputeTracker::Recomputed& recomputed);
  /// What is recomputed from the codes of a root, and what it was.
  struct Unmeasured {
    SiteKey site;
    bool is_norm;
    at::Tensor run;
    Shown recomputed;
    SiteKey root;
  };
  void measure(const Unmeasured& one);
  /// Once it is decided how the root is stored.
  void measure_what_comes_of(const SiteKey& root);
  codecs::RandomStream next_random(at::Device device);

  // deferred_inputs.cpp.

  /// The input of a norm, which is coded once it is known whether codes tell of it that an
  /// activation of the norm's output saves.
  struct Waiting {
    std::shared_ptr<StoredRun> run;
    at::Tensor input;
    SaveEvent event;
    SaveDecision decision;
    SiteKey site;
    c10::Stream stream;
    std::optional<RecomputeTracker::Recomputed> recomputed;  ///< to be measured
    bool has_ended = false;                                  ///< the norm
    int running = 0;  ///< operations that run, the outermost of which takes its output
    std::optional<Contents> output = {};
    std::vector<int64_t> strides = {};                  ///< of that
    std::optional<codecs::Statistics> statistics = {};  ///< of the input, that the norm saves
  };
  bool waits(const at::Tensor& run, const Saved& saved) const {
    return saved.decision.is_norm && waits_for_output(run, saved);
  }
  bool waits_for_output(const at::Tensor& run, const Saved& saved) const;
  std::shared_ptr<StoredRun> wait(const Saved& saved,
                                  std::optional<RecomputeTracker::Recomputed> recomputed);
  void follow_start(const RecordedCall& call);
  void follow_end(const RecordedCall& call);
  /// What the operation that saves now tells of it.
  std::optional<codecs::Classes> classes_of_waiting(const SaveEvent& event) const;
  /// Codes it.
  void settle(const std::optional<codecs::Classes>& classes) {
    if (waiting_) settle_waiting(classes);
  }
  void settle_waiting(const std::optional<codecs::Classes>& classes);

  // followed.cpp.

  /// What an element-wise operation saves, which is coded once it is known who takes its result.
  struct Followed {
    std::shared_ptr<StoredRun> run;
    at::Tensor input;  ///< what was saved, as it is
    SaveEvent event;
    SaveDecision decision;
    SiteKey site;
    c10::Stream stream;
    RunPointer codes = {};  ///< of the same elements, by others
    std::optional<RecomputeTracker::Recomputed> recomputed = {};  ///< to be measured, or
    bool is_recomputed = false;                                   ///< to be stored so
    std::vector<int64_t> other = {};                              ///< sizes of the other factor
  };
  /// Whether there is anything to wait for.
  bool is_followed(const Saved& saved) const {
    return saved.decision.factor != Factor::none && waits_for_consumer(saved);
  }
  bool waits_for_consumer(const Saved& saved) const;
  /// recomputed: what it is to be computed from, unless it is stored exactly.
  std::unique_ptr<const PackedTensor> code_later(
      const Saved& saved, Run& known,
      const std::optional<RecomputeTracker::Recomputed>& recomputed);
  /// kept: an activation's codes; null: as autograd saves them.
  std::unique_ptr<const PackedTensor> watch_codes(const Saved& saved,
                                                  std::unique_ptr<const PackedTensor> kept);
  void follow_result(const RecordedCall& call);
  Consumers::Decide exact_instead(const at::Tensor& numbers, const SiteKey& site,
                                  const std::shared_ptr<CodesOrInput>& state);
  void keep_coded(const Followed& followed, const Consumers::Decision& decision);
  void keep_exact(const Followed& followed, ExactReason why);

  std::shared_ptr<Compression> compression_;
  Compression::Forward forward_;
  mutable std::array<Concern, 256> concerns_;
  RecomputeTracker tracker_;
  std::shared_ptr<LargestCoded> largest_ = std::make_shared<LargestCoded>();
  bool recomputes_casts_;
  ParameterCasts casts_;
  Sensitivities sensitivities_;
  std::map<RunKey, Run> runs_;
  codecs::SmallRuns small_;
  MemoryUses uses_;
  /// The latest tensor, where it was not replaced here.
  struct Left {
    const void* memory;
    int64_t version;
  };
  std::optional<Left> left_;
  SharedCopies masks_;                                    ///< of attention
  std::optional<SiteKey> latest_;                         ///< whose tensor was the latest one
  std::map<std::pair<std::string, int>, int64_t> calls_;  ///< by operation and argument
  /// The same by device and stream: no stream waits for what another one makes.
  std::map<std::pair<std::string, c10::StreamId>, at::Tensor> seeds_;
  std::optional<ops::SeedScope> compiled_seeds_;  ///< of graphs that torch compiled
  std::map<const void*, Memory> counted_;         ///< of copies of parameters that some site holds
  int64_t coded_ = 0;
  /// What the next activation saves codes by, and of what.
  struct Activation {
    Table table;
    bool is_given;
    int64_t elements;
    int64_t bytes;
    Addresses makers;  ///< parameters of the layer before
  };
  std::optional<Activation> activation_;
  std::optional<SiteKey> exact_activation_;        ///< that runs next
  std::optional<StorageKind> activation_storage_;  ///< of what the next one saves
  std::optional<Waiting> waiting_;
  /// Sites that wait for their consumer, with what is recomputed from them.
  std::map<SiteKey, std::vector<Unmeasured>> undecided_;
  /// What the running operation saved gives way to its result, once it has one.
  struct OfResult {
    std::string operation;
    std::weak_ptr<StandIn> run;
    SiteKey site;
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides = {};  ///< that the result is to have; empty: any
    MemoryUses::HoldOf hold = nullptr;  ///< as in MemoryUses::add
    bool is_only_followed = false;      ///< and does not serve itself
    std::function<void(const at::Tensor& result)> follow = nullptr;
  };
  std::optional<OfResult> of_result_;
  Consumers consumers_;
};

}  // namespace fewbit::session

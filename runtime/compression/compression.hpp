#pragma once

#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codecs/codec.hpp"
#include "compression/bit_allocation.hpp"
#include "compression/coder.hpp"
#include "compression/decoded_cache.hpp"
#include "compression/operators/operator.hpp"
#include "compression/operators/site_key.hpp"
#include "compression/save_decision.hpp"
#include "compression/site_table.hpp"
#include "compression/user_rules.hpp"
#include "fewbit/compressor.hpp"
#include "offload/host_offload.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

struct ActivationCall;
class SaveObserver;

/// What a Compressor knows: rules of its user, sites of the model, bits for each. Thread-safe.
class Compression {
 public:
  explicit Compression(const CompressorOptions& options);

  const CompressorOptions& options() const { return coder_.options(); }
  const Coder& coder() const { return coder_; }

  // What the user says, and plans.
  void set_rule(const std::string& pattern, Bits bits);
  void set_rule(const std::string& pattern, StorageKind storage);
  void name(const torch::OrderedDict<std::string, at::Tensor>& parameters);
  void set_running_module(std::function<std::string()> module);
  void set_random_stream(int64_t stream);
  void set_recompute(const std::string& name, Recompute when);
  void assign(const std::map<SiteKey, UserRules::Assignment>& sites);
  /// Tells it what is saved from now on, and measures no errors meanwhile; null: ends that.
  void observe_with(std::shared_ptr<SaveObserver> observer);

  /// What one forward goes by.
  struct Forward {
    /// Of its random numbers: a function of the seed of torch's default generator, of the stream
    /// and of how many forwards there were, which draws nothing from that generator.
    int64_t seed;
    std::shared_ptr<const UserRules> rules;         ///< as they are now
    std::shared_ptr<SiteNotes> notes;               ///< what it tells of sites
    std::shared_ptr<offload::HostOffload> offload;  ///< where what leaves goes; null: nothing does
  };
  /// Throws what went wrong as the forward before ended.
  Forward begin_forward();
  /// Takes in what it has told of sites, and splits bits anew.
  void end_forward(SiteNotes& notes);
  /// For the next forward that begins to throw.
  void keep_failure(std::exception_ptr failure) noexcept;

  /// How a tensor is stored that is saved at a site, but for its size.
  SaveDecision decide(const SiteKey& site, const at::Tensor& tensor, const SaveEvent& event) const;
  /// What codes it.
  codecs::CodecPointer codec_of(const Subject& subject, const SaveDecision& decision) const;
  /// The run, or what holds it between its uses in a backward pass if the options say so.
  std::shared_ptr<const codecs::Encoded> held(std::shared_ptr<const codecs::Encoded> run) const;
  /// The same of codes of a tensor, which its current stream makes.
  std::shared_ptr<const codecs::Encoded> held(std::shared_ptr<const codecs::Encoded> run,
                                              const at::Tensor& coded) const;

  bool codes_anything() const { return coder_.codes({}); }
  /// Whether what is stored so leaves the device's memory.
  bool offloads(const SavePolicy& save_policy) const {
    return coder_.offloads() || save_policy.storage == StorageKind::offloaded;
  }
  /// Whether what is known of elements helps to store them.
  bool codes_by_class(const SavePolicy& save_policy) const {
    return options().scheme == Scheme::rotated && save_policy.takes_bits();
  }
  /// Whether a rule says so of the operation.
  bool leaves_alone(std::string_view operation) const;
  std::shared_ptr<SaveObserver> observer() const;

  /// Of the codes of an activation.
  struct ActivationBits {
    int count = 0;
    bool is_given = false;  ///< by a rule, an option or a plan
    bool is_exact = false;  ///< by a plan: none
    /// By a rule: none, and what libtorch's own saves is stored so.
    std::optional<StorageKind> storage = {};
  };
  /// For a call of libtorch's `operation` at a site; nothing: it runs as libtorch's own. Throws
  /// c10::Error where the function has no table. (activations.cpp)
  std::optional<ActivationBits> activation_bits(const ActivationCall& call,
                                                std::string_view operation, const at::Tensor& x,
                                                const SiteKey& site) const;

  /// In backward.
  void note_sensitivity(const SiteKey& site, double sensitivity);

  std::vector<Compressor::Site> sites() const;
  std::vector<Compressor::LeftAlone> left_alone() const;
  std::optional<double> split_gap() const;
  /// Bytes, of the latest step of which somebody measured it.
  std::optional<int64_t> step_peak() const {
    const int64_t bytes = step_peak_;
    return bytes < 0 ? std::nullopt : std::optional(bytes);
  }
  void note_step_peak(int64_t bytes) { step_peak_ = bytes; }
  /// Sites, with the bits of an element where it is coded in such, and the site from whose codes it
  /// is recomputed where it is.
  struct SiteFacts {
    Compressor::Site site;
    int bits = 0;
    std::optional<SiteKey> root;
  };
  std::vector<SiteFacts> site_facts() const;

  void save(const std::string& path) const;
  void load(const std::string& path);

 private:
  static void apply(const UserRules::Rule& rule, const at::Tensor& tensor, const SaveEvent& event,
                    SaveDecision& decision);
  void choose_codec(const SiteState* state, SaveDecision& decision) const;
  std::shared_ptr<UserRules> copied_rules() const { return std::make_shared<UserRules>(*rules_); }
  void add_rule(UserRules::Rule rule);
  void need_stores();
  void take(SiteNotes& notes) const;
  void take_notes_of_this_thread() const;
  BitAllocation allocation() const { return {sites_, *rules_, coder_}; }

  Coder coder_;
  std::shared_ptr<DecodedCache> held_;  ///< null: nothing is held
  mutable std::mutex mutex_;
  std::shared_ptr<offload::Stores> stores_;  ///< null: nothing leaves
  std::shared_ptr<const UserRules> rules_;   ///< forwards go on by those that they began with
  mutable SiteTable sites_;
  mutable std::vector<std::weak_ptr<SiteNotes>> open_;  ///< of forwards that have not ended
  std::shared_ptr<SaveObserver> observer_;
  std::atomic<bool> is_observed_ = false;
  std::exception_ptr failure_;
  uint64_t forwards_ = 0;  ///< begun so far
  uint64_t stream_ = 0;    ///< of random numbers
  std::atomic<int64_t> step_peak_ = -1;
};

}  // namespace fewbit::session
